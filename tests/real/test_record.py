"""`roost serve --record` on a real daemon with real jobs: every decision can be made again, also
after the server was killed; a disk that is full stops the recording and nothing else.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.rig import accounts, daemon, open_to_all, wait_for

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]
SIMULATED = ("--simulate", "4xA100")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of the server's account, on a disk of its own of 32 KiB."""
    path = Path(f"/run/replay-record-{os.getpid()}")
    path.mkdir(mode=0o711)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(path)], check=True)
    path.chmod(0o777)
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)
    path.rmdir()


def test_a_days_work_is_decided_again_alike(tmp_path: Path) -> None:
    open_to_all(tmp_path)
    inside = tmp_path / "log"
    inside.mkdir()
    inside.chmod(0o777)
    events = inside / "events.jsonl"
    with (
        accounts("ann", "bo", prefix="replay-") as (ann, bo),
        daemon(*SIMULATED, "--record", str(events)) as running,
    ):
        done = running.run(ann.name, "-g", "1", "--", "/bin/true")
        long = running.run(ann.name, "-g", "4", "--class", "background", "--", "/bin/sleep", "600")
        running.wait_state(done, "COMPLETED")
        running.wait_state(long, "RUNNING")
        waits = running.run(bo.name, "-g", "2", "--hold", "--", "/bin/true")
        assert running.kill("server")
        wait_for(lambda: running.cli("root", "status", check=False).returncode == 0, "it is back")
        running.cli(bo.name, "release", str(waits))
        running.cli(ann.name, "cancel", str(long))
        running.wait_state(long, "CANCELLED")
        running.wait_state(waits, "COMPLETED")
        assert events.stat().st_mode & 0o777 == 0o600
        assert events.stat().st_uid != 0
        running.stop()
        again = running.json("root", "replay", "--events", str(events))
        assert again["same"] is True
        assert again["schedulers"] >= 2
        assert again["decisions"] >= 4
        said = running.cli("root", "replay", "--events", str(events)).stdout
        assert f"the same {again['decisions']} decisions" in said


def test_a_full_disk_ends_the_recording_and_not_the_daemon(folder: Path) -> None:
    events = folder / "events.jsonl"
    with (
        accounts("cy", prefix="replay-") as (cy,),
        daemon(*SIMULATED, "--record", str(events)) as running,
    ):
        jobs = [
            running.run(cy.name, "-g", "1", "-a", "0-99", "--hold", "--", "/bin/true")
            for _ in range(2)
        ]
        assert jobs
        wait_for(lambda: "events are not recorded any more" in running.log(), "it says so")
        assert "No space left on device" in running.log()
        last = running.run(cy.name, "-g", "1", "--", "/bin/true")
        running.wait_state(last, "COMPLETED")
        again = running.json("root", "replay", "--events", str(events))
        assert again["same"] is True, "what could be written is whole"
