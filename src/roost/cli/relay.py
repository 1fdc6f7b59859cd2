"""What agent and server say, for a person at a terminal: their JSON lines as sentences.

Only lines that need attention are shown; where standard error is no terminal, `serve` leaves the
lines as they are, for whoever keeps them.
"""

from __future__ import annotations

import threading

from roost.client.jsontext import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

QUIET = ("debug", "info")
UNSAID = ("event", "level", "timestamp", "exception")


def sentence(line: bytes) -> str | None:
    """The line as a person reads it; None for one that needs nobody. What is no JSON stays."""
    text = line.decode("utf-8", "backslashreplace").rstrip()
    if not text.startswith("{"):
        return text or None
    try:
        entry = loads(text)
    except ValueError:
        return text
    if entry.get("level") in QUIET:
        return None
    details = ", ".join(f"{key} {entry[key]}" for key in entry if key not in UNSAID)
    said = str(entry.get("event", text)) + (f" ({details})" if details else "")
    trace = entry.get("exception")
    return f"{said}\n{trace}" if trace else said


def relay(lines: Iterable[bytes], name: str, write: Callable[[str], None]) -> threading.Thread:
    """Writes the sentences of one part, with its name, until its lines end."""

    def follow() -> None:
        for line in lines:
            text = sentence(line)
            if text is not None:
                write(f"roost {name}: {text}" if not text.startswith("roost ") else text)

    thread = threading.Thread(target=follow, daemon=True, name=f"lines of the {name}")
    thread.start()
    return thread
