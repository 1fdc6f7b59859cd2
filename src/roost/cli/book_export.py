"""`roost book export`: bookings as a list that any spreadsheet program opens, and that `roost book
import` takes back."""

from __future__ import annotations

import os
import tempfile
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from roost.cli.failure import CommandError
from roost.cli.sheet_write import csv_bytes, xlsx_bytes
from roost.client.http import quote
from roost.core.sheets.write import Line, head, rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context

DAYS = 90
SHOWN = ("booked", "ended", "no_show")


def export(context: Context) -> int:
    """Writes the file anew, whole or not at all."""
    path = context.given.arguments[0]
    ending = os.path.splitext(path)[1].lower()
    if ending not in (".csv", ".xlsx") and path != "-":
        raise CommandError("sheet_ending", path=path)
    client = context.client()
    ping: Any = client.ping()
    zone = ZoneInfo(str(ping["time_zone"]))
    start, end = _period(context, zone)
    answer: Any = client.call("GET", period_path("/v1/bookings", start, end))
    found = lines(answer["bookings"], str(ping["server"]), zone)
    language = context.terminal.language
    table = rows(found)
    if ending == ".xlsx":
        data = xlsx_bytes(head(language), table, context.say("cli_sheet.title"))
    else:
        data = csv_bytes(head(language), table)
    if path == "-":
        os.write(1, data)
        return 0
    write_file(path, data)
    if context.json:
        context.out_json({"file": path, "bookings": len(found)})
    else:
        context.out(context.say("cli_sheet.exported", count=len(found), path=path))
    return 0


def _period(context: Context, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """From today on for three months, unless it was said otherwise."""
    from roost.cli.run import point_in_rules_zone

    def given(name: str) -> datetime | None:
        text = context.option(name)
        return point_in_rules_zone(context, f"--{name}", text) if text is not None else None

    today = datetime.now(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    start = given("from") or today
    return start, given("to") or start + timedelta(days=DAYS)


def period_path(path: str, start: datetime, end: datetime) -> str:
    first, last = (quote(at.isoformat(timespec="seconds")) for at in (start, end))
    return f"{path}?from={first}&to={last}"


def lines(bookings: list[Any], server: str, zone: ZoneInfo) -> list[Line]:
    """Those that hold or held GPUs; a share of a GPU's memory and a maintenance are not for a
    list."""
    found = []
    for each in bookings:
        if each["maintenance"] or each["gpu_memory_bytes"] or not each["gpus"]:
            continue
        if each["state"] not in SHOWN:
            continue
        found.append(
            Line(
                user=str(each["user"]),
                server=server,
                gpus=tuple(each["gpu_indices"]),
                start=datetime.fromisoformat(each["start"]).astimezone(zone),
                end=datetime.fromisoformat(each["end"]).astimezone(zone),
                purpose=str(each.get("purpose") or ""),
            )
        )
    return sorted(found, key=lambda line: (line.start, line.gpus))


def write_file(path: str, data: bytes) -> None:
    """Beside the old one first, so that nobody ever finds half of it."""
    folder = os.path.dirname(path) or "."
    number, name = tempfile.mkstemp(dir=folder, prefix=".roost-", suffix=".tmp")
    try:
        with open(number, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
