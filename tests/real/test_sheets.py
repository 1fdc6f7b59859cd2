"""Spreadsheets read by real accounts against the whole daemon: as expected, with the rules'
aliases, and with the caller's own rights."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.real import rig
from tests.real.cases_rig import ZH

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
]
SHEETS = Path(__file__).resolve().parents[1] / "data/sheets"
NAMES = sorted(path.name.removesuffix(".expected.json") for path in SHEETS.glob("*.expected.json"))
RULES = """
time_zone = "Asia/Shanghai"
[bookings.aliases]
"老 王" = "rsh-wang"
[bookings.slots]
"早班" = "07:00-15:00"
"""
Served = tuple[rig.Daemon, rig.Account, rig.Account, Path]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("rsh")
    rig.open_to_all(folder)
    for path in SHEETS.iterdir():
        shutil.copy(path, folder)
    with (
        rig.accounts("wang", "li", prefix="rsh-") as (wang, li),
        rig.daemon("--simulate", "8xA100", rules=RULES) as roost,
    ):
        yield roost, wang, li, folder


def read(served: Served, user: str, path: Path, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = served[0].json(
        user, "book", "import", str(path), "--dry-run", "--year", "2026", *words
    )
    return found


@pytest.mark.parametrize("name", NAMES)
def test_each_of_the_five_is_understood_as_expected(served: Served, name: str) -> None:
    expected = json.loads((SHEETS / f"{name}.expected.json").read_text(encoding="utf-8"))
    (path,) = (p for p in served[3].glob(f"{name}.*") if p.suffix != ".json")
    found = read(served, served[1].name, path)
    for key in ("timezone", "year", "bookings", "rejected"):
        assert found[key] == expected[key], key


def test_names_and_slots_of_the_rules_and_accounts_of_the_machine(served: Served) -> None:
    _, wang, li, folder = served
    path = folder / "own.csv"
    path.write_text(
        f"姓名,日期,时段,卡号\n老王,2026-12-07,早班,0\n{li.name.upper()},2026-12-07,上午,1\n"
        "路人,2026-12-07,通宵,2\n",
        encoding="gb18030",
    )
    found = read(served, li.name, path)
    assert [(b["user"], b["start"][11:], b["end"][11:]) for b in found["bookings"]] == [
        (wang.name, "07:00", "15:00"),
        (li.name, "08:00", "12:00"),
        ("路人", "23:00", "08:00"),
    ]
    shown = served[0].cli(li.name, "book", "import", str(path), "--dry-run", environment=ZH).stdout
    assert "读懂 3 条，时间按 Asia/Shanghai。" in shown
    assert "这里没有账号：路人。" in shown


def test_a_file_is_read_with_the_callers_own_rights(served: Served) -> None:
    roost, wang, li, folder = served
    path = folder / "private.csv"
    path.write_text("Name,GPU,Date\nalice,0,2026-12-07\n")
    os.chown(path, wang.uid, -1)
    path.chmod(0o600)
    assert len(read(served, wang.name, path)["bookings"]) == 1
    refused = roost.cli(li.name, "book", "import", str(path), "--dry-run", check=False)
    assert refused.returncode == 1
    assert refused.stderr.strip().endswith("private.csv: Permission denied")


def test_what_is_no_sheet_is_refused_in_a_sentence(served: Served) -> None:
    roost, _, li, folder = served
    path = folder / "notes.csv"
    path.write_text("just,some,words\n")
    refused = roost.cli(li.name, "book", "import", str(path), "--dry-run", check=False)
    assert refused.returncode == 1
    assert "no bookings are to be seen: a list needs a row that names its columns" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_sheet_is_taken_over_in_one_piece_and_once(served: Served) -> None:
    roost, wang, li, folder = served
    day = f"{datetime.now(UTC).date() + timedelta(days=2)}"
    path = folder / "take.csv"
    head = "姓名,日期,时段,卡号,用途\n"
    rows = [
        f"老王,{day},上午,0-1,论文",
        f"{li.name},{day},下午,全部,",
        f"{li.name},{day},通宵,4卡,",
    ]
    path.write_text("\n".join([head.strip(), *rows, f"老王,{day},早班,9,"]), encoding="utf-8")
    words = ("book", "import", str(path))
    refused = roost.cli("root", *words, check=False)
    assert (
        "nothing is imported. Rows that cannot be taken over: 1; the first, row 5: "
        in refused.stderr
    )
    assert "--yes" in refused.stderr
    assert roost.json("root", "bookings")["bookings"] == []
    not_hers = roost.cli(li.name, *words, "--yes", check=False)
    assert not_hers.returncode == 4, "only operators book for everybody"

    assert "Bookings made: 3" in roost.cli("root", *words, "--yes").stdout
    again = roost.json("root", *words, "--yes")["imported"]
    made = roost.json("root", "bookings")["bookings"]
    assert [one["booking"] for one in again] == [one["booking"] for one in made]
    assert [(one["user"], one["wanted"], one["purpose"]) for one in made] == [
        (wang.name, 2, "论文"), (li.name, 8, ""), (li.name, 4, ""),
    ]  # fmt: skip
    assert [one["start"][:16] for one in made] == [f"{day}T08:00", f"{day}T12:00", f"{day}T23:00"]
    for one in made:
        roost.cli("root", "book", "cancel", str(one["booking"]))


def test_two_cells_that_want_one_gpu_are_both_named_and_nothing_is_imported(
    served: Served,
) -> None:
    roost, wang, li, folder = served
    first, second = (f"{datetime.now(UTC).date() + timedelta(days=n)}" for n in (3, 4))
    path = folder / "grid.csv"
    path.write_text(
        f"日期,时段,GPU0,GPU1\n{first},通宵,老王,老王\n{second},全天,,{li.name}\n", encoding="utf-8"
    )
    refused = roost.cli("root", "book", "import", str(path), check=False)
    assert "want GPU 1 at the same time" in refused.stderr
    assert wang.name in refused.stderr
    assert li.name in refused.stderr
    states = {one["state"] for one in roost.json("root", "bookings")["bookings"]}
    assert states <= {"cancelled"}
    said = roost.cli("root", "book", "import", str(path), "--skip-conflicts").stdout
    assert "Bookings made: 1" in said
