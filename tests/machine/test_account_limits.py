"""limits.conf as pam_limits reads it: whose line wins, and in which unit."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from roost.machine.accounts import Limit, RefusedAccountError, limits_of, look_up, uid_min


def limits(tmp_path: Path, text: str) -> dict[int, tuple[int | None, int | None]]:
    file = tmp_path / "limits.conf"
    file.write_text(text)
    found = limits_of("ann", 1001, 1001, (1001, 50), [str(file)])
    return {limit.resource: (limit.soft, limit.hard) for limit in found}


def test_the_users_own_line_wins_over_group_and_star(tmp_path: Path) -> None:
    text = """
        ann   hard nofile 300   # own
        @:50  hard nofile 200
        *     hard nofile 100
        *     soft nofile 10
    """
    assert limits(tmp_path, text)[resource.RLIMIT_NOFILE] == (10, 300)


def test_units_unlimited_and_both_at_once(tmp_path: Path) -> None:
    text = "* - memlock 64\n* hard nproc unlimited\n1000:2000 soft cpu 2\n"
    found = limits(tmp_path, text)
    assert found[resource.RLIMIT_MEMLOCK] == (65536, 65536)
    assert found[resource.RLIMIT_NPROC] == (None, -1)
    assert found[resource.RLIMIT_CPU] == (120, None)


def test_lines_that_are_none_change_nothing(tmp_path: Path) -> None:
    text = "# c\nann hard\nann maybe nofile 3\nann hard nofile many\nbob hard nofile 3\n"
    assert limits(tmp_path, text) == {resource.RLIMIT_CORE: (0, None)}


def test_core_dumps_are_off_unless_wanted(tmp_path: Path) -> None:
    assert limits(tmp_path, "* soft core 10\n")[resource.RLIMIT_CORE] == (10240, None)


def test_the_first_uid_of_people_is_read(tmp_path: Path) -> None:
    file = tmp_path / "login.defs"
    file.write_text("# UID_MIN 7\nUID_MIN\t\t 5000\n")
    assert uid_min(str(file)) == 5000
    assert uid_min(str(tmp_path / "none")) == 1000


@pytest.mark.parametrize("user", ["root", "daemon", "nobody"])
def test_system_accounts_are_refused(user: str) -> None:
    with pytest.raises(RefusedAccountError) as refused:
        look_up(user, 0)
    assert refused.value.code == "system_user"
    assert Limit(0, None, None).soft is None
