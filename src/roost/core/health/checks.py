"""Facts about Roost and its machine, turned into checks: one line each, with what to do.

Pure: who gathers the facts is elsewhere, and so are the sentences (`core.text.health`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from roost.core.observation import DriverState, GpuReading, GpuState, Observation

AWAY_AFTER_S = 60.0
RECORD_LATE_S = 300.0
DISK_LOW_BYTES, DISK_FULL_BYTES = 2 << 30, 256 << 20
DRIFT_S = 5.0
# Clocks that fall because the card must be spared, not because it idles or was told to.
_THROTTLES = ("hardware_slowdown", "thermal", "hardware_thermal", "power_brake", "reliability")


class State(StrEnum):
    """`NOTE`: as it is on purpose or by the machine's nature. `UNKNOWN`: nobody could look."""

    BAD = "bad"
    WARN = "warn"
    UNKNOWN = "unknown"
    NOTE = "note"
    OK = "ok"


@dataclass(frozen=True, slots=True)
class Check:
    """`part` is what it is about ("store", "gpu" …), `subject` which one of these ("3"), `code` a
    sentence of `core.text.health` with `numbers`; its remedy is `code` + "_do". `remedy` instead
    names a sentence anywhere in the catalogue."""

    part: str
    code: str
    state: State
    subject: str = ""
    numbers: tuple[tuple[str, str | int | float], ...] = ()
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """None: could not be told. `trouble`: why nothing could be stored the last time, "" if it
    could. `store_s`: how long a first query took. `recorded_at`: up to when the ledger is. `gaps`:
    (how many, seconds in all) in the last seven days that nobody looked. `clock_synced`: the
    kernel's word. `mail`: notices that wait after a failed try, and those given up in a week."""

    now: float
    store: str
    store_bytes: int | None
    store_s: float | None
    trouble: str
    disk_free_bytes: int | None
    disk_total_bytes: int | None
    agent: bool
    observation: Observation | None
    recorded_at: float | None
    record_from_at: float | None
    gaps: tuple[int, float]
    clock_synced: bool | None
    rules_version: int
    rules_problem: str
    mail: tuple[int, int, str] = (0, 0, "")


def checks(facts: Facts) -> list[Check]:
    """All of them, what needs a hand first."""
    found = [
        *_store(facts), *_disk(facts), *_agent(facts), *_record(facts), *_clock(facts),
        *_rules(facts), *_mail(facts), *_driver(facts), *_gpus(facts),
    ]  # fmt: skip
    order = list(State)
    return sorted(found, key=lambda check: order.index(check.state))


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f}"


def _store(facts: Facts) -> Iterator[Check]:
    if facts.trouble:
        code = "store_full" if facts.trouble == "full" else "store_fails"
        yield Check("store", code, State.BAD, numbers=(("code", facts.trouble),))
    elif facts.store_s is None:
        yield Check("store", "store_fails", State.BAD, numbers=(("code", "unreachable"),))
    else:
        size = "–" if facts.store_bytes is None else f"{facts.store_bytes / (1 << 20):.1f}"
        ms = f"{facts.store_s * 1000:.0f}"
        numbers = (("kind", facts.store), ("mib", size), ("ms", ms))
        state = State.WARN if facts.store_s > 1.0 else State.OK
        yield Check("store", "store_slow" if state is State.WARN else "store_ok", state,
                    numbers=numbers)  # fmt: skip


def _disk(facts: Facts) -> Iterator[Check]:
    free, total = facts.disk_free_bytes, facts.disk_total_bytes
    if free is None or total is None:
        yield Check("disk", "disk_unknown", State.UNKNOWN)
        return
    numbers = (("free", _gib(free)), ("total", _gib(total)))
    if free < DISK_FULL_BYTES:
        yield Check("disk", "disk_full", State.BAD, numbers=numbers)
    elif free < DISK_LOW_BYTES:
        yield Check("disk", "disk_low", State.WARN, numbers=numbers)
    else:
        yield Check("disk", "disk_ok", State.OK, numbers=numbers)


def _agent(facts: Facts) -> Iterator[Check]:
    seen = facts.observation
    if not facts.agent:
        age = -1 if seen is None else round(facts.now - seen.taken_at)
        code = "agent_never" if seen is None else "agent_away"
        yield Check("agent", code, State.BAD, numbers=(("seconds", age),))
    elif seen is None:
        yield Check("agent", "agent_no_look", State.WARN)
    else:
        age_s = facts.now - seen.taken_at
        late = age_s > max(AWAY_AFTER_S, 10 * seen.sample_s)
        yield Check(
            "agent", "agent_late" if late else "agent_ok", State.WARN if late else State.OK,
            subject=seen.server, numbers=(("seconds", max(0, round(age_s))),),
        )  # fmt: skip


def _record(facts: Facts) -> Iterator[Check]:
    if facts.recorded_at is None:
        yield Check("record", "record_none", State.UNKNOWN)
        return
    late_s = facts.now - facts.recorded_at
    if late_s > RECORD_LATE_S:
        minutes = (("minutes", round(late_s / 60)),)
        yield Check("record", "record_late", State.WARN, numbers=minutes)
    else:
        first = facts.recorded_at if facts.record_from_at is None else facts.record_from_at
        days = max(0, int((facts.now - first) // 86400))
        numbers = (("seconds", max(0, round(late_s))), ("days", days))
        yield Check("record", "record_ok" if days else "record_new", State.OK, numbers=numbers)
    count, seconds = facts.gaps
    if count:
        numbers = (("count", count), ("minutes", max(1, round(seconds / 60))))
        yield Check("record", "record_gaps", State.NOTE, numbers=numbers)


def _clock(facts: Facts) -> Iterator[Check]:
    seen = facts.observation
    if seen is not None and seen.taken_at - facts.now > DRIFT_S:
        ahead = (("seconds", round(seen.taken_at - facts.now)),)
        yield Check("clock", "clock_ahead", State.WARN, numbers=ahead)
    elif facts.clock_synced is None:
        yield Check("clock", "clock_unknown", State.UNKNOWN)
    elif not facts.clock_synced:
        yield Check("clock", "clock_free", State.WARN)
    else:
        yield Check("clock", "clock_ok", State.OK)


def _rules(facts: Facts) -> Iterator[Check]:
    numbers = (("version", facts.rules_version), ("problem", facts.rules_problem))
    wrong = bool(facts.rules_problem)
    yield Check("rules", "rules_wrong" if wrong else "rules_ok",
                State.BAD if wrong else State.OK, numbers=numbers)  # fmt: skip


def _mail(facts: Facts) -> Iterator[Check]:
    waiting, failed, error = facts.mail
    if waiting or failed:
        numbers = (("waiting", waiting), ("failed", failed), ("error", error[:300] or "–"))
        yield Check("mail", "mail_stuck", State.WARN, numbers=numbers)


def _driver(facts: Facts) -> Iterator[Check]:
    if facts.observation is None or not facts.agent:
        return
    driver = facts.observation.driver
    remedy = f"driver.{driver.remedy_code or driver.state.value}"
    version = (("version", driver.driver_version or "–"),)
    if driver.state is DriverState.SIMULATED:
        yield Check("driver", "driver_simulated", State.NOTE)
    elif driver.state is DriverState.OK and driver.remedy_code is None:
        yield Check("driver", "driver_ok", State.OK, numbers=version)
    elif driver.state in (DriverState.RELEASED, DriverState.RELOADING):
        yield Check("driver", "driver_released", State.WARN, remedy=remedy)
    else:
        yield Check("driver", "driver_wrong", State.BAD, numbers=version, remedy=remedy)


def _gpus(facts: Facts) -> Iterator[Check]:
    if facts.observation is None or not facts.agent:
        return
    gpus = facts.observation.gpus
    wrong = [check for gpu in gpus for check in _gpu(gpu)]
    yield from wrong
    well = len(gpus) - len({check.subject for check in wrong})
    if well:
        yield Check("gpu", "gpus_ok", State.OK, numbers=(("well", well), ("gpus", len(gpus))))
    if not gpus:
        yield Check("gpu", "gpus_none", State.WARN)


def _gpu(gpu: GpuReading) -> Iterator[Check]:
    index = str(gpu.index)
    known: tuple[tuple[str, str | int | float], ...] = (("gpu", gpu.index),)
    if gpu.state is not GpuState.OK:
        detail = (*known, ("detail", gpu.state_detail or gpu.state.value))
        yield Check("gpu", "gpu_wrong", State.BAD, index, detail, f"driver.gpu_{gpu.state.value}")
        return
    if gpu.memory_used_bytes is None and gpu.utilisation_percent is None:
        yield Check("gpu", "gpu_silent", State.WARN, index, known)
    slowed = [word for word in gpu.throttle_reasons or () if word in _THROTTLES]
    if slowed:
        temperature = "–" if gpu.temperature_c is None else str(gpu.temperature_c)
        why = (("why", ", ".join(slowed).replace("_", " ")), ("temperature", temperature))
        yield Check("gpu", "gpu_slowed", State.WARN, index, (*known, *why))
    if gpu.ecc_uncorrected:
        counted = (*known, ("count", gpu.ecc_uncorrected))
        yield Check("gpu", "gpu_ecc", State.WARN, index, counted)
    if not gpu.memory_consistent:
        yield Check("gpu", "gpu_sums", State.WARN, index, known)
