"""Laws of every sheet, however odd: it is read or refused in words, no GPU is given twice by a
list, and each row gives a booking, a reason or a remark."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from roost.core.sheets.model import Block, Cell, Page, UnreadError
from roost.core.sheets.read import understand
from roost.core.sheets.show import document
from tests.core.sheets.book import SETTING

WORDS = [
    "Name",
    "GPU",
    "Start",
    "End",
    "Date",
    "Time",
    "姓名",
    "卡号",
    "日期",
    "时段",
    "用途",
    "alice",
    "Bob",
    "小王",
    "GPU0",
    "GPU1",
    "GPU2-3",
    "卡0",
    "0",
    "1",
    "2",
    "7",
    "31",
    "全部",
    "4卡",
    "2026-12-07",
    "12/7",
    "Dec 7",
    "12月8日",
    "2/12",
    "Dec 32",
    "周一",
    "Mon",
    "9-18",
    "9-5",
    "上午",
    "通宵",
    "全天",
    "半天",
    "14:00",
    "box",
    "gpu01",
    "第50周",
    "2026年12月",
    "12月",
    "x",
    "-",
    "alice 9-12 / bob",
    "carol (x)",
    "maintenance",
    "8h",
    "tomorrow",
    "=A1",
    "gpu01:0",
    "remarks",
    "合计",
    "24",
    "99999999999999999999",
    "٣",
    "²",
    "Ⅷ",
    "一",
    "十十",
]
VALUES = (
    st.sampled_from(WORDS)
    | st.text(max_size=8)
    | st.sampled_from([46363, 46363.75, 0.5, 3, -1, 1e300, 12.1, True])
    | st.sampled_from([date(2026, 12, 7), datetime.fromisoformat("2026-12-07T09:00"), time(9, 30)])
)
CELLS = st.builds(
    Cell,
    VALUES,
    struck=st.sampled_from([False, False, False, True]),
    uncomputed=st.sampled_from([False, False, False, False, True]),
)
PLACES = st.tuples(st.integers(0, 7), st.integers(0, 6))
BLOCKS = st.builds(
    lambda a, b: Block(min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])),
    PLACES,
    PLACES,
)
HEADS = (
    ["Name", "GPU", "Date", "Time"],
    ["姓名", "卡号", "开始时间", "结束时间"],
    ["Date", "GPU0", "GPU1", "GPU2", "GPU3"],
    ["日期", "时段", "卡0", "卡1", "卡2"],
    ["GPU", "12月7日", "12月8日", "12月9日"],
)


def shown(page: Page) -> dict[str, Any] | None:
    """None where nothing is to be seen; in both languages else."""
    reason = None
    try:
        found = understand([page], SETTING)
    except UnreadError as error:
        reason = error.phrase
    if reason is not None:
        assert reason.text("zh") and reason.text("en")
        return None
    assert document(found, "zh", "Asia/Shanghai")
    taken: set[tuple[int, datetime]] = set()
    for draft in found.bookings:
        assert draft.end > draft.start
        assert draft.user
        if draft.place.column is not None or draft.server:
            continue
        for number in draft.wanted.these:
            assert (number, draft.start) not in taken
            taken.add((number, draft.start))
    return document(found, "en", "Asia/Shanghai")


@settings(max_examples=300)
@given(st.dictionaries(PLACES, CELLS, max_size=40), st.lists(BLOCKS, max_size=3))
def test_any_cells_anywhere(cells: dict[tuple[int, int], Cell], blocks: list[Block]) -> None:
    shown(Page("Sheet", cells, tuple(blocks)))


@settings(max_examples=400)
@given(
    st.sampled_from(HEADS),
    st.dictionaries(PLACES, CELLS, max_size=40),
    st.lists(BLOCKS, max_size=2),
    st.integers(0, 2),
)
def test_any_cells_below_a_head(
    head: list[str], cells: dict[tuple[int, int], Cell], blocks: list[Block], above: int
) -> None:
    body = {(row + above + 1, column): cell for (row, column), cell in cells.items()}
    top = {(above, column): Cell(text) for column, text in enumerate(head)}
    moved = [Block(b.top + above + 1, b.left, b.bottom + above + 1, b.right) for b in blocks]
    page = Page("Sheet", body | top, tuple(moved))
    found = shown(page)
    if found is None or found["sheets"][0]["layout"] != "list":
        return
    told = {where.split()[-1] for where in found["where"]}
    told |= {each["where"].split()[-1] for each in found["rejected"]}
    told |= {line.split(":")[0].split()[-1] for line in found["notes"].splitlines()}
    first = found["sheets"][0]["header_row"]
    rows = {row for (row, _), cell in body.items() if _says(cell)}
    missing = {str(row + 1) for row in rows if row + 1 > first} - told
    assert not {row for row in missing if not _is_head(page, int(row) - 1)}


def _says(cell: Cell) -> bool:
    return cell.uncomputed or not isinstance(cell.value, str) or bool(cell.value.strip())


def _is_head(page: Page, row: int) -> bool:
    from roost.core.sheets.listed import fields_of
    from roost.core.sheets.table import Table

    table = Table(page)
    second = all(isinstance(cell.value, str) for (r, _), cell in table.cells.items() if r == row)
    return bool(fields_of(table, row)) or second
