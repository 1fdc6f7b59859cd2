"""Recording the scheduler's steps: a real server writes them, and a full disk ends nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path

from roost.core.replay.eventlog import rerun
from roost.core.scheduler.events import TimeReached
from roost.server.record import Recorder


def test_what_is_recorded_reads_back_and_goes_on_after_a_cut_line(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    for _ in range(2):
        recorder = Recorder(path, "1.0")
        recorder.fresh(look_first=True)
        for at in range(100):
            recorder.step([TimeReached(float(at))], [])
        recorder.close()
        with path.open("a") as file:
            file.write('{"events":[["Time')
    assert path.stat().st_mode & 0o777 == 0o600
    with path.open() as file:
        outcome = rerun(file)
    assert (outcome.steps, outcome.schedulers, outcome.broken) == (200, 2, 2)


def test_what_cannot_be_written_stops_the_recording_alone(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (Path("/dev/full"), link, fifo, tmp_path / "none" / "file", tmp_path):
        recorder = Recorder(path, "1.0")
        for _ in range(50):
            recorder.step([TimeReached(0.0)], [])
            time.sleep(0.001)
        began = time.monotonic()
        recorder.close()
        assert time.monotonic() - began < 1.0, path
        assert recorder._stopped, path
    assert not (tmp_path / "elsewhere").exists()
