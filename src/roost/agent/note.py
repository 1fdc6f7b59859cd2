"""One line of JSON to stderr, for processes too small to load a logging library."""

from __future__ import annotations

import os
import time
from contextlib import suppress

import msgspec


def note(event: str, **facts: str | int | float | None) -> None:
    """Never raises: a log that cannot be written ends no job."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with suppress(OSError):
        os.write(2, msgspec.json.encode({"timestamp": moment, "event": event, **facts}) + b"\n")
