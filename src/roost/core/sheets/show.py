"""What was understood of a sheet, as `roost book import --dry-run --json` shows it."""

from __future__ import annotations

from roost.core.sheets.model import Draft, Place, Understood, Wanted, letters
from roost.core.text.catalogue import say


def document(found: Understood, language: str, time_zone: str) -> dict[str, object]:
    """`bookings` in the order of the sheet, times local without a zone, `gpus` a list of numbers,
    "all" or {"count": N}; `where` says of each booking where it stands."""
    named = len({shape.page for shape in found.shapes}) > 1
    remarks = []
    for remark in found.remarks:
        words = remark.phrase.text(language)
        place = remark.place
        remarks.append(_at(place, words, language, named) if place else words)
    remarks += [
        _at(each.place, each.reason.text(language), language, named) for each in found.clashes
    ]
    return {
        "timezone": time_zone,
        "year": found.year,
        "notes": "\n".join(remarks),
        "bookings": [booking(draft) for draft in found.bookings],
        "rejected": [
            {"where": r.place.text(language, named), "reason": r.reason.text(language)}
            for r in found.rejected
        ],
        "clashes": [c.place.text(language, named) for c in found.clashes],
        "where": [where(draft.place, language, named) for draft in found.bookings],
        "names": people(found),
        "sheets": [
            {
                "sheet": shape.page,
                "layout": shape.kind,
                "header_row": shape.header + 1,
                "columns": {letters(column): words for column, words in shape.columns},
            }
            for shape in found.shapes
        ],
    }


def _at(place: Place, words: str, language: str, named: bool) -> str:
    return say(language, "sheet.at", where=place.text(language, named), text=words)


def people(found: Understood) -> dict[str, str]:
    """Each name as the sheet has it, with the account that it was taken for."""
    return {draft.name: draft.user for draft in found.bookings}


def booking(draft: Draft) -> dict[str, object]:
    return {
        "user": draft.user,
        "server": draft.server,
        "gpus": gpus(draft.wanted),
        "start": f"{draft.start:%Y-%m-%dT%H:%M}",
        "end": f"{draft.end:%Y-%m-%dT%H:%M}",
        "purpose": draft.purpose,
    }


def gpus(wanted: Wanted) -> object:
    if wanted.every:
        return "all"
    return {"count": wanted.count} if wanted.count else list(wanted.these)


def where(place: Place, language: str, named: bool) -> str:
    return place.text(language, named)
