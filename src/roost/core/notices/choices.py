"""What a person wants to be told of, where and when. Pure; must not know how it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from datetime import time as clock

from roost.core.notices.kinds import ON
from roost.core.notices.quiet import read_quiet

NOW, DIGEST = "now", "digest"
DIGEST_HOUR = 8


@dataclass(frozen=True, slots=True)
class Choices:
    """`wanted`: by channel, its topics, each at once ("now") or once a day ("digest"); a channel
    that is not in it has what everybody has. `language` and `quiet` None: as the operators set."""

    language: str | None = None
    quiet: str | None = None
    digest_hour: int = DIGEST_HOUR
    wanted: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def way(self, channel: str, topic: str) -> str | None:
        """How that topic goes to that channel; None: it does not."""
        own = self.wanted.get(channel)
        if own is None:
            return NOW if topic in ON else None
        return own.get(topic)

    def quiet_or(self, default: tuple[clock, clock] | None) -> tuple[clock, clock] | None:
        return default if self.quiet is None else read_quiet(self.quiet)


def next_digest(now: float, hour: int, zone: tzinfo) -> float:
    """The next time that the zone's clock says that hour, in seconds since the epoch."""
    day = datetime.fromtimestamp(now, zone).date()
    for days in (0, 1, 2):
        at = datetime.combine(day + timedelta(days=days), clock(hour), zone).timestamp()
        if at > now:
            return at
    raise AssertionError("no day is so long")
