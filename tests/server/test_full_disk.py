"""A full disk: a clear refusal, nothing half done, and it goes on when there is space again."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from roost.client.errors import RoostError
from tests.server.agent_peer import AgentPeer
from tests.server.rig import Server, submission, wait_for


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """Four mebibytes of tmpfs."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    with tempfile.TemporaryDirectory(prefix="rs-", dir="/tmp") as name:
        options = ["-t", "tmpfs", "-o", "size=4m,mode=0755"]
        done = subprocess.run(["mount", *options, "tmpfs", name], capture_output=True)
        if done.returncode != 0:
            pytest.skip(f"mounting is not possible here: {done.stderr.decode()}")
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "-l", name], check=True)


def fill(path: Path) -> None:
    """Writes until nothing more fits."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        for block in (b"x" * 65536, b"x" * 512):
            with suppress(OSError):
                while True:
                    os.write(fd, block)
    finally:
        os.close(fd)


def test_a_full_disk_refuses_and_recovers(small_disk: Path) -> None:
    with AgentPeer(small_disk / "agent.sock") as peer:
        server = Server(small_disk)
        server.start()
        try:
            client = server.connected()
            running = client.submit(submission("sleep", "3", "4"))["job"]
            filler = small_disk / "filler"
            fill(filler)
            accepted: list[int] = []
            refused: RoostError | None = None
            for _ in range(200):
                try:
                    made = client.submit(
                        submission("sleep", "600", environment={"A": "x" * 100_000})
                    )
                    accepted.append(made["job"])
                except RoostError as error:
                    refused = error
                    break
            assert refused is not None
            assert (refused.status, refused.code) == (507, "store_full")
            assert "no space left" in refused.text
            assert client.status()["gpus"], "it still answers"
            wait_for(lambda: (running, 1) in peer.ended, "the job has ended in the agent")
            filler.unlink()
            ended = client.wait(running, 10)
            assert (ended["state"], ended["exit_code"]) == ("FAILED", 4)
            after = client.submit(submission("sleep", "600"))["job"]
            live = [job["job"] for job in client.jobs()["jobs"]]
            assert live == [*accepted, after]
            assert all(count == 1 for count in peer.executed.values())
            assert server.process is not None
            assert server.process.poll() is None
        finally:
            server.stop()


def test_a_disk_that_is_full_from_the_start_is_said(small_disk: Path) -> None:
    fill(small_disk / "filler")
    server = Server(small_disk)
    process = subprocess.run(server.words(), capture_output=True, timeout=60)
    said = process.stderr.decode()
    assert process.returncode == 1, said
    assert "space" in said
    assert "Traceback" not in said
