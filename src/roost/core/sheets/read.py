"""From the pages of a workbook to what was understood of them, and what not."""

from __future__ import annotations

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from roost.core.sheets.gridded import read_grid
from roost.core.sheets.heads import find_layout
from roost.core.sheets.instants import as_local, as_utc
from roost.core.sheets.listed import Found, head_row, read_list
from roost.core.sheets.model import (
    Draft,
    Page,
    Phrase,
    Place,
    Rejected,
    Remark,
    Setting,
    Understood,
    UnreadError,
)
from roost.core.sheets.overlaps import without_overlaps
from roost.core.sheets.table import Table


def understand(pages: Sequence[Page], setting: Setting) -> Understood:
    """Every page that is a list or a grid of bookings, read. Raises UnreadError where none is."""
    found: list[Found] = []
    remarks: list[Remark] = []
    for page in pages:
        table = Table(page)
        if not table.cells:
            continue
        one = _page(table, setting)
        if one is None:
            remarks.append(Remark(Place(page.name, 0), Phrase("page_aside")))
        else:
            found.append(one)
    if not found:
        raise UnreadError("nothing_read")
    drafts: list[Draft] = []
    rejected: list[Rejected] = []
    for one in found:
        remarks += one.remarks
        rejected += one.rejected
        for draft in one.bookings:
            skipped = _skipped(draft, setting.time_zone)
            if skipped:
                rejected.append(Rejected(draft.place, skipped))
            else:
                drafts.append(draft)
    _, refused = without_overlaps(drafts, setting)
    clashes = [each for each in refused if each.place.column is not None]
    rejected += [each for each in refused if each.place.column is None]
    left_out = {each.place for each in refused if each not in clashes}
    order = {page.name: number for number, page in enumerate(pages)}
    return Understood(
        bookings=tuple(draft for draft in drafts if draft.place not in left_out),
        rejected=tuple(sorted(rejected, key=lambda r: _order(r.place, order))),
        clashes=tuple(clashes),
        remarks=tuple(remarks),
        shapes=tuple(one.shape for one in found),
        year=setting.year or setting.today.year,
    )


def _page(table: Table, setting: Setting) -> Found | None:
    head = head_row(table)
    if head is not None:
        return read_list(table, setting, head)
    layout = find_layout(table, setting)
    return None if layout is None else read_grid(table, setting, layout)


def _order(place: Place, pages: dict[str, int]) -> tuple[int, int, int]:
    return pages.get(place.page, 0), place.row, place.column or 0


def _skipped(draft: Draft, zone_name: str) -> Phrase | None:
    """A start or end in the hour that a change of the clocks leaves out."""
    zone = ZoneInfo(zone_name)
    for local in (draft.start, draft.end):
        if as_local(as_utc(local, zone), zone) != local:
            return Phrase("skipped_hour", (("time", f"{local:%Y-%m-%d %H:%M}"),))
    return None
