"""Is an MPS control daemon of root's running? With real processes that are called like one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from roost.machine.mps import mps_runs

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: processes of two accounts")
# The kernel cuts the name of the real one to the same 15 bytes.
CALLED = (
    "open('/proc/self/comm', 'w').write('nvidia-cuda-mps-control');"
    "print(flush=True); import time; time.sleep(60)"
)


@contextmanager
def running(uid: int) -> Iterator[None]:
    """A process of that name for a while."""
    words = ["/usr/bin/python3", "-c", CALLED]
    with subprocess.Popen(words, user=uid, group=uid, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


def test_a_daemon_of_roots_is_seen_while_it_runs() -> None:
    assert not mps_runs()
    with running(0):
        assert mps_runs()
    assert not mps_runs()


def test_a_process_of_a_persons_that_is_called_like_one_is_none() -> None:
    with running(65534):
        assert not mps_runs()
