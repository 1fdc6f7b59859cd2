"""What may never return is given up in time, and never more than a few of it hang."""

from __future__ import annotations

import threading
import time

import pytest

from roost.machine.guard import GivenUpError, Guard
from roost.machine.proc.users import UserNames


def test_results_and_errors_come_through() -> None:
    guard = Guard("test")
    assert guard.run(lambda: 7, 1.0) == 7
    with pytest.raises(ZeroDivisionError):
        guard.run(lambda: 1 // 0, 1.0)
    guard.close()


def test_a_hanging_call_is_given_up_and_the_next_one_runs() -> None:
    guard, let_go = Guard("test"), threading.Event()
    began = time.monotonic()
    with pytest.raises(GivenUpError):
        guard.run(let_go.wait, 0.05)
    assert time.monotonic() - began < 1.0
    assert guard.run(lambda: "next", 1.0) == "next"
    assert guard.hanging == 1
    let_go.set()
    guard.close()


def test_no_more_than_so_many_hang_and_it_recovers() -> None:
    guard, let_go = Guard("test", most_hanging=2), threading.Event()
    for _ in range(2):
        with pytest.raises(GivenUpError):
            guard.run(let_go.wait, 0.02)
    with pytest.raises(GivenUpError, match="2 calls are hanging"):
        guard.run(lambda: "refused", 1.0)
    let_go.set()
    for _ in range(100):
        if guard.hanging == 0:
            break
        time.sleep(0.01)
    assert guard.run(lambda: "again", 1.0) == "again"
    guard.close()


def test_a_name_service_of_ten_seconds_stalls_nothing(tmp_path: object) -> None:
    let_go = threading.Event()

    def slow(uid: int) -> str | None:
        let_go.wait(10)
        return f"user{uid}"

    names = UserNames(ask=slow, passwd=f"{tmp_path}/none")
    began = time.monotonic()
    assert names.name(70001) is None
    assert time.monotonic() - began < 1.0
    let_go.set()
    for _ in range(200):
        if names.name(70001):
            break
        time.sleep(0.01)
    assert names.name(70001) == "user70001"
    names.close()


def test_local_accounts_are_known_at_once_and_a_change_is_seen(tmp_path: object) -> None:
    path = f"{tmp_path}/passwd"
    now = [0.0]
    with open(path, "w") as file:
        file.write("root:x:0:0::/root:/bin/sh\nbroken\nann:x:1001:1001::/home/ann:/bin/sh\n")
    names = UserNames(ask=lambda uid: None, passwd=path, clock=lambda: now[0])
    assert names.name(1001) == "ann"
    assert names.name(None) is None
    with open(path, "a") as file:
        file.write("ben:x:1002:1002::/home/ben:/bin/sh\n")
    now[0] = 2.0
    assert names.name(1002) == "ben"
    names.close()


def test_a_uid_without_a_name_is_asked_once_and_stays_a_number(tmp_path: object) -> None:
    asked: list[int] = []

    def nobody(uid: int) -> str | None:
        asked.append(uid)
        return None

    names = UserNames(ask=nobody, passwd=f"{tmp_path}/none")
    for _ in range(100):
        assert names.name(70002) is None
        time.sleep(0.001)
    assert asked == [70002]
    names.close()
