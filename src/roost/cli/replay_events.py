"""`roost replay --events FILE`: what `roost serve --record` wrote, decided again and compared."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import asdict
from datetime import UTC, datetime

from roost.cli.failure import CommandError
from roost.cli.replay_source import opened
from roost.core.replay.eventlog import Difference, LogError, rerun
from roost.core.text.catalogue import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from roost.cli.context import Context

SHOWN = 2000


def replay_events(context: Context) -> int:
    """0 where every decision is the same, 1 at the first that is not, which is shown."""
    path, language = str(context.option("events")), context.terminal.language
    try:
        with opened(path) as file:
            outcome = rerun(file)
    except LogError as error:
        text = say(language, "replay." + error.code, **error.numbers)
        raise CommandError("replay_trace", path=path, text=text) from None
    except UnicodeDecodeError:
        text = say(language, "replay.not_text")
        raise CommandError("replay_trace", path=path, text=text) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        text = say(language, "replay.broken_gzip", detail=str(error))
        raise CommandError("replay_trace", path=path, text=text) from None
    differs = outcome.difference
    if context.json:
        context.out_json({"file": path, "same": differs is None, **asdict(outcome)})
    elif differs is None:
        context.out(
            say(
                language, "replay.log_same", steps=f"{outcome.steps:,}",
                events=f"{outcome.events:,}", schedulers=outcome.schedulers,
                decisions=f"{outcome.decisions:,}",
            )
        )  # fmt: skip
    else:
        context.out("\n".join(told(language, differs)))
    if outcome.broken and not context.json:
        context.out(say(language, "replay.log_cut", count=outcome.broken))
    return 1 if differs else 0


def told(language: str, differs: Difference) -> list[str]:
    """The first difference: where, what the scheduler was told, what it decided then and now."""
    try:
        at = datetime.fromtimestamp(differs.at, UTC).isoformat(sep=" ", timespec="seconds")
    except (ValueError, OverflowError, OSError):
        at = str(differs.at)
    lines = [
        say(language, "replay.log_differs", line=differs.line, roost=differs.roost, at=at),
    ]
    for code, what in (
        ("events", differs.events),
        ("recorded", differs.recorded),
        ("decided", differs.decided),
    ):
        cut = what if len(what) <= SHOWN else what[:SHOWN] + "…"
        lines.append(say(language, f"replay.log_{code}", what=cut))
    return lines
