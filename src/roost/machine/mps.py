"""Whether root's MPS control daemon runs on this host (nvidia-cuda-mps-control(1)).

A daemon of a person's own serves that person alone, and any process may call itself like one: only
root's counts. Which GPUs it serves, and who goes through it, is not to be seen from here.
"""

from __future__ import annotations

import os

from roost.machine.proc.read import GoneError, HiddenError, list_pids, read_stat

# The kernel keeps 15 bytes of a name: those of the control daemon and of its servers are the same.
COMM = b"nvidia-cuda-mps"


def mps_runs(proc: bytes = b"/proc") -> bool:
    """Looks at every process's name, about 10 us each."""
    return any(_is_daemon(proc, pid) for pid in list_pids(proc))


def _is_daemon(proc: bytes, pid: int) -> bool:
    try:
        stat = read_stat(proc, pid)
        if stat.comm != COMM or stat.state in "ZX":
            return False
        return os.stat(b"%s/%d" % (proc, pid)).st_uid == 0
    except (GoneError, HiddenError, FileNotFoundError, ProcessLookupError):
        return False
