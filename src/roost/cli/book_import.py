"""`roost book import`: reads a team's spreadsheet here, with the caller's own rights, shows what
was understood and what not, and hands the bookings to the daemon in one piece.

Heavy modules are loaded by this command alone. What a cell means is in `roost.core.sheets`.
"""

from __future__ import annotations

import pwd
from datetime import datetime
from zoneinfo import ZoneInfo

from roost.cli.failure import CommandError
from roost.cli.sheet_file import read_pages
from roost.cli.sheet_take import take_over, unknown_people
from roost.cli.table import Cell, lines
from roost.core.rules.load_sheets import slot_minutes
from roost.core.sheets.model import Setting, Understood, UnreadError
from roost.core.sheets.read import understand
from roost.core.sheets.show import booking, document, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context
    from roost.core.sheets.model import Draft


def import_sheet(context: Context) -> int:
    """Exit code 0 when all that was to be imported is, 1 when something could not be read and the
    person has not said --yes."""
    path = context.given.arguments[0]
    pages = read_pages(path)
    setting = setting_of(context)
    try:
        found = understand(pages, setting)
    except UnreadError as error:
        text = error.phrase.text(context.terminal.language)
        raise CommandError("sheet_unread", path=path, text=text) from None
    said = document(found, context.terminal.language, setting.time_zone)
    if context.option("dry_run"):
        if context.json:
            context.out_json({**said, "imported": []})
        else:
            show(context, found, setting)
        return 0
    made = take_over(context, found, setting, said)
    if context.json:
        context.out_json({**said, "imported": made})
    else:
        context.out(context.say("cli_book.imported", count=len(made)))
    return 0


def setting_of(context: Context) -> Setting:
    """What the daemon and this machine's accounts tell of what a sheet leaves unsaid."""
    client = context.client()
    ping: Any = client.ping()
    rules: Any = client.rules()["rules"]
    status: Any = client.status()
    server = context.option("server") or str(ping["server"])
    zone = str(ping["time_zone"])
    booked = rules.get("bookings") or {}
    slots = booked.get("slots") or {}
    return Setting(
        time_zone=zone,
        today=datetime.now(ZoneInfo(zone)).date(),
        year=context.option("year"),
        order=context.option("dates"),
        gpus={str(ping["server"]): len(status["gpus"])},
        home=server,
        aliases=dict(booked.get("aliases") or {}),
        accounts=frozenset(entry.pw_name for entry in pwd.getpwall()),
        slots={name: slot_minutes(times) for name, times in slots.items()},
    )


def show(context: Context, found: Understood, setting: Setting) -> None:
    """Everything that was read, with where it stands, then everything that was not."""
    language = context.terminal.language
    said = document(found, language, setting.time_zone)
    tell = context.out
    say = context.say
    if found.bookings:
        head = [say("cli_sheet.col." + name) for name in ("where", "user", "gpus", "when", "what")]
        rows = [_row(context, found, draft) for draft in found.bookings]
        for line in lines(context.terminal, head, rows, (), (24, 20, 24)):
            tell(line)
    count = len(found.bookings)
    tell(say("cli_sheet.understood", count=count, zone=setting.time_zone))
    if found.rejected:
        tell("")
        tell(say("cli_sheet.rejected", count=len(found.rejected)))
        for each in said["rejected"]:  # type: ignore[attr-defined]
            tell("  " + say("cli_sheet.at", where=each["where"], text=each["reason"]))
    notes = str(said["notes"])
    if notes:
        tell("")
        tell(say("cli_sheet.notes"))
        for note in notes.splitlines():
            tell("  " + note)
    strangers = unknown_people(found, setting)
    if strangers:
        tell("")
        tell(say("cli_sheet.strangers", names=", ".join(strangers), example=strangers[0]))
    strange = sorted({d.server for d in found.bookings if d.server} - set(setting.gpus))
    if strange:
        tell(say("cli_sheet.strange_servers", names=", ".join(strange), server=setting.home))


def _row(context: Context, found: Understood, draft: Draft) -> list[str | Cell]:
    named = len(found.shapes) > 1
    shown = booking(draft)
    gpus = shown["gpus"]
    if gpus == "all":
        words = context.say("cli_sheet.all")
    elif isinstance(gpus, dict):
        words = context.say("cli_sheet.any", count=gpus["count"])
    else:
        words = ",".join(map(str, draft.wanted.these))
    if draft.server:
        words = f"{draft.server}:{words}"
    same_day = draft.start.date() == draft.end.date()
    end = f"{draft.end:%H:%M}" if same_day else f"{draft.end:%Y-%m-%d %H:%M}"
    return [
        where(draft.place, context.terminal.language, named),
        Cell(draft.user, person=draft.user),
        words,
        f"{draft.start:%Y-%m-%d %H:%M} - {end}",
        draft.purpose,
    ]
