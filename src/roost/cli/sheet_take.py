"""Bookings of a spreadsheet handed to the daemon: all in one transaction, or none, and why not."""

from __future__ import annotations

import hashlib
import pwd

from roost.cli.failure import CommandError
from roost.client.errors import RoostError
from roost.client.jsontext import dumps
from roost.core.sheets.model import Draft, Setting, Understood
from roost.core.sheets.plain import name_key
from roost.core.sheets.show import people, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context


def take_over(
    context: Context, found: Understood, setting: Setting, said: dict[str, object]
) -> list[dict[str, Any]]:
    """Books them and returns what was booked. Raises CommandError, RoostError: then none is."""
    wanted, left_out = _fit(context, found, setting)
    rejected: Any = said["rejected"]
    left_out = [(each["where"], each["reason"]) for each in rejected] + left_out
    if left_out and not context.option("yes"):
        raise CommandError(
            "sheet_not_all", count=len(left_out), where=left_out[0][0], text=left_out[0][1]
        )
    if not wanted:
        raise CommandError("sheet_nothing", path=context.given.arguments[0])
    body: dict[str, Any] = {"bookings": [_row(draft, setting) for draft in wanted]}
    if context.option("skip_conflicts"):
        body["skip"] = True
    # The same sheet within the hour is the same import.
    key = hashlib.sha256(dumps(body).encode()).hexdigest()[:32]
    try:
        made: list[dict[str, Any]] = context.client().book_all(body, key)["bookings"]
    except RoostError as error:
        raise _of_row(context, error, wanted, _named(found)) from error
    return made


def unknown_people(found: Understood, setting: Setting) -> list[str]:
    """Names of the sheet for which there is no account. An account that is not listed (of a
    directory service) is asked for by its name."""
    return [name for name, user in people(found).items() if not _known(user, setting)]


def _known(user: str, setting: Setting) -> bool:
    if user in setting.accounts or name_key(user) in setting.accounts:
        return True
    try:
        pwd.getpwnam(user)
    except (KeyError, ValueError):
        return False
    return True


def _named(found: Understood) -> bool:
    return len({shape.page for shape in found.shapes}) > 1


def _fit(
    context: Context, found: Understood, setting: Setting
) -> tuple[list[Draft], list[tuple[str, str]]]:
    """Those of this server's and of people there are, and the others: where, and why not."""
    wanted, left_out = [], []
    strangers = {name for name, user in people(found).items() if not _known(user, setting)}
    for draft in found.bookings:
        place = where(draft.place, context.terminal.language, _named(found))
        if draft.name in strangers:
            text = context.say("cli_errors.sheet_no_account", name=draft.user)
            left_out.append((place, text))
        elif draft.server and draft.server not in (setting.home, *setting.gpus):
            text = context.say("cli_errors.sheet_other_server", name=draft.server)
            left_out.append((place, text))
        else:
            wanted.append(draft)
    return wanted, left_out


def _row(draft: Draft, setting: Setting) -> dict[str, Any]:
    """Times are local ones of the rules' zone: the daemon reads them so."""
    row: dict[str, Any] = {
        "user": draft.user, "purpose": " ".join(draft.purpose.split())[:500],
        "start": f"{draft.start:%Y-%m-%dT%H:%M}", "end": f"{draft.end:%Y-%m-%dT%H:%M}",
    }  # fmt: skip
    if draft.wanted.every:
        row["chosen"] = [str(index) for index in range(max(setting.gpus.values()))]
    elif draft.wanted.count:
        row["gpus"] = draft.wanted.count
    else:
        row["chosen"] = [str(index) for index in draft.wanted.these]
    return row


def _of_row(context: Context, error: RoostError, wanted: list[Draft], named: bool) -> Exception:
    """The refusal of one row, said of where it stands on the sheet."""
    row, other = error.extra.get("row"), error.extra.get("other_row")
    if not isinstance(row, int):
        return error
    language = context.terminal.language
    place = where(wanted[row].place, language, named)
    if not isinstance(other, int):
        return CommandError("sheet_row", where=place, text=error.text)
    mine, theirs = wanted[row], wanted[other]
    shared = sorted(set(mine.wanted.these) & set(theirs.wanted.these)) or mine.wanted.these
    return CommandError(
        "sheet_clash", where=place, user=mine.user, second=theirs.user,
        other=where(theirs.place, language, named), gpus=", ".join(map(str, shared)) or "–",
    )  # fmt: skip
