"""The record on disk: what is left by a kill between any two of its steps can be told apart."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roost.agent import record
from roost.core.model import EndReason
from roost.machine.accounts import Account
from roost.machine.cgroup import Layout
from roost.wire.messages import AttemptEnd, AttemptState, LaunchSpec


def prepared(job: int = 7, **more: object) -> record.Prepared:
    spec = LaunchSpec(
        job=job, attempt=1, user="u", group="g", priority_class="regular", argv=(b"\xff",), **more
    )
    account = Account("u", 1000, 1000, (1000, 5), "/home/u", "/bin/sh")
    return record.Prepared(spec, account, "boot", 1.0, Layout(), None, None, "/run/x", True)


def test_a_spec_comes_back_as_it_was_with_any_bytes(tmp_path: Path) -> None:
    made = prepared(environment={b"\xfe": b"\xfd"}, directory=b"/\xff")
    folder = record.open_folder(record.create(str(tmp_path), made))
    assert record.read_prepared(folder) == made
    os.close(folder)


def test_a_folder_without_spec_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "7.1").mkdir()
    record.create(str(tmp_path), prepared())
    with pytest.raises(FileExistsError):
        record.create(str(tmp_path), prepared())


def test_started_and_end_are_there_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = record.open_folder(record.create(str(tmp_path), prepared()))
    assert record.read_started(folder) is None
    assert record.read_end(folder) is None
    started = record.Started(12, 34, 5.0, True)
    record.write_started(folder, started)
    assert record.read_started(folder) == started
    state = AttemptState(7, 1, "ended", end=AttemptEnd(EndReason.EXITED, 2.0, exit_code=3))
    record.write_end(folder, state)
    assert record.read_end(folder) == state
    (tmp_path / "7.1" / "end").write_bytes(b"")  # power was lost as it was written
    assert record.read_end(folder) is None
    (tmp_path / "7.1" / "started").write_bytes(b"{")
    with pytest.raises(record.RecordError):
        record.read_started(folder)
    os.close(folder)


def test_only_one_holds_the_lock_and_it_goes_with_its_descriptor(tmp_path: Path) -> None:
    folder = record.open_folder(record.create(str(tmp_path), prepared()))
    lock = record.try_lock(folder)
    assert lock is not None
    assert record.try_lock(folder) is None
    os.close(lock)
    again = record.try_lock(folder)
    assert again is not None
    os.close(again)
    os.close(folder)


def test_known_lists_attempts_only_and_finishes_removals(tmp_path: Path) -> None:
    for job in (20, 3):
        record.create(str(tmp_path), prepared(job))
    for name in ("x", "1", "1.2.3", "01.1", "5.1.gone", "-1.1", "٣.1"):
        (tmp_path / name).mkdir()
    assert record.known(str(tmp_path)) == [(3, 1), (20, 1)]
    assert not (tmp_path / "5.1.gone").exists()
    record.remove(str(tmp_path), 3, 1)
    assert record.known(str(tmp_path)) == [(20, 1)]
    record.remove(str(tmp_path), 3, 1)  # once more changes nothing


def test_a_suspension_is_recorded_for_as_long_as_it_lasts(tmp_path: Path) -> None:
    folder = record.open_folder(record.create(str(tmp_path), prepared()))
    for total in (0.0, 12.5):
        assert record.read_suspended(folder) is None
        record.write_suspended(folder, record.Suspended(100.0, total))
        assert record.read_suspended(folder) == record.Suspended(100.0, total)
        record.write_suspended(folder, None)
    record.write_suspended(folder, None)
    (tmp_path / "7.1" / "suspended").write_bytes(b"{")
    assert record.read_suspended(folder) is None
    os.close(folder)
