"""What a process's facts gain from elsewhere: the job it descends from, what was read before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from roost.core.observation import ProcessFacts
from roost.machine.proc.read import GoneError, HiddenError, read_stat

PARENTS = 16


def with_attempt(
    facts: ProcessFacts, attempts: Mapping[tuple[int, int], tuple[int, int]], proc: bytes
) -> ProcessFacts:
    """With the job whose first process is among its ancestors, as far as they are alive.

    `attempts`: (pid, start ticks) of each attempt's first process → (job, attempt).
    """
    pid, start = facts.pid, facts.start_ticks
    for _ in range(PARENTS):
        found = attempts.get((pid, start))
        if found is not None:
            job, attempt = found
            place = replace(facts.place, roost_job=job, roost_attempt=attempt)
            return replace(facts, place=place)
        try:
            pid = read_stat(proc, pid).ppid
            if pid <= 1:
                return facts
            start = read_stat(proc, pid).start_ticks
        except (GoneError, HiddenError):
            return facts
    return facts


def with_earlier(facts: ProcessFacts, before: ProcessFacts) -> ProcessFacts:
    """What hangs to be read is as it was when it could be read."""
    if before.start_ticks != facts.start_ticks:
        return facts
    place = replace(
        facts.place,
        tmux=facts.place.tmux or before.place.tmux,
        jupyter_kernel=facts.place.jupyter_kernel or before.place.jupyter_kernel,
    )
    held = {use.minor for use in facts.devices}
    mapped = tuple(u for u in before.devices if u.via == "map" and u.minor not in held)
    return replace(
        facts,
        cmdline=facts.cmdline or before.cmdline,
        place=place,
        devices=facts.devices + mapped,
    )
