"""Facts into checks: what is well, what needs a hand, and that each of these says what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from roost.core.health.checks import Check, Facts, State, checks
from roost.core.observation import (
    DriverReading,
    DriverState,
    GpuReading,
    GpuState,
    Observation,
)
from roost.core.text.catalogue import LANGUAGES, say
from roost.core.text.health import MESSAGES

NOW = 1_800_000_000.0
GIB = 1 << 30


def gpu(index: int, **more: Any) -> GpuReading:
    given = {"memory_used_bytes": 0, "utilisation_percent": 0, **more}
    return GpuReading(uuid=f"GPU-{index}", index=index, name="A100", **given)


def seen(
    *gpus: GpuReading, state: DriverState = DriverState.OK, remedy: str | None = None
) -> Observation:
    driver = DriverReading(state, driver_version="550.1", remedy_code=remedy)
    return Observation(taken_at=NOW - 1, boot_id="b", server="gpu1", driver=driver, gpus=gpus)


def facts(**more: Any) -> Facts:
    given: dict[str, Any] = {
        "now": NOW, "store": "SQLite", "store_bytes": 5 << 20, "store_s": 0.002, "trouble": "",
        "disk_free_bytes": 50 * GIB, "disk_total_bytes": 100 * GIB, "agent": True,
        "observation": seen(gpu(0), gpu(1)), "recorded_at": NOW - 2, "record_from_at": NOW - 864000,
        "gaps": (0, 0.0), "clock_synced": True, "rules_version": 3, "rules_problem": "",
    }  # fmt: skip
    return Facts(**{**given, **more})


def codes(given: Facts) -> list[tuple[str, str]]:
    return [(check.code, check.state.value) for check in checks(given) if check.state != State.OK]


def test_where_all_is_well_every_part_says_so() -> None:
    found = checks(facts())
    assert {check.part for check in found} == {
        "store", "disk", "agent", "record", "clock", "rules", "driver", "gpu",
    }  # fmt: skip
    assert {check.state for check in found} == {State.OK}


WRONG: list[tuple[dict[str, Any], tuple[str, str]]] = [
    ({"trouble": "full"}, ("store_full", "bad")),
    ({"trouble": "unreachable"}, ("store_fails", "bad")),
    ({"store_s": None}, ("store_fails", "bad")),
    ({"store_s": 3.0}, ("store_slow", "warn")),
    ({"disk_free_bytes": GIB}, ("disk_low", "warn")),
    ({"disk_free_bytes": 1000}, ("disk_full", "bad")),
    ({"disk_free_bytes": None}, ("disk_unknown", "unknown")),
    ({"observation": None}, ("agent_no_look", "warn")),
    ({"recorded_at": NOW - 3600}, ("record_late", "warn")),
    ({"recorded_at": None}, ("record_none", "unknown")),
    ({"gaps": (2, 700.0)}, ("record_gaps", "note")),
    ({"clock_synced": False}, ("clock_free", "warn")),
    ({"clock_synced": None}, ("clock_unknown", "unknown")),
    ({"rules_problem": "line 3: x"}, ("rules_wrong", "bad")),
    ({"mail": (3, 1, "refused")}, ("mail_stuck", "warn")),
    ({"observation": seen()}, ("gpus_none", "warn")),
    ({"observation": seen(gpu(0, state=GpuState.LOST))}, ("gpu_wrong", "bad")),
    ({"observation": seen(gpu(0, throttle_reasons=("thermal", "idle")))}, ("gpu_slowed", "warn")),
    ({"observation": seen(gpu(0, ecc_uncorrected=4))}, ("gpu_ecc", "warn")),
    ({"observation": seen(gpu(0, memory_consistent=False))}, ("gpu_sums", "warn")),
    (
        {"observation": seen(gpu(0, memory_used_bytes=None, utilisation_percent=None))},
        ("gpu_silent", "warn"),
    ),
    ({"observation": seen(gpu(0), state=DriverState.SIMULATED)}, ("driver_simulated", "note")),
    ({"observation": seen(gpu(0), state=DriverState.RELEASED)}, ("driver_released", "warn")),
    (
        {"observation": seen(gpu(0), state=DriverState.VERSION_MISMATCH)},
        ("driver_wrong", "bad"),
    ),
    ({"observation": seen(gpu(0), remedy="update_pending")}, ("driver_wrong", "bad")),
]


@pytest.mark.parametrize(("more", "code"), WRONG, ids=lambda value: str(value)[:40])
def test_what_is_wrong_is_one_check_of_its_own(more: dict[str, Any], code: tuple[str, str]) -> None:
    assert codes(facts(**more)) == [code]


def test_an_agent_that_is_away_hides_what_it_said_last() -> None:
    broken = seen(gpu(0, state=GpuState.LOST))
    found = {check.code: check for check in checks(facts(agent=False, observation=broken))}
    assert "gpu_wrong" not in found
    assert dict(found["agent_away"].numbers) == {"seconds": 1}
    assert codes(facts(agent=False, observation=None)) == [("agent_never", "bad")]


def test_a_look_that_is_old_or_from_the_future_is_told() -> None:
    old = replace(seen(gpu(0)), taken_at=NOW - 90)
    assert codes(facts(observation=old)) == [("agent_late", "warn")]
    slow = replace(old, sample_s=30.0)
    assert codes(facts(observation=slow)) == []
    ahead = replace(seen(gpu(0)), taken_at=NOW + 60)
    assert codes(facts(observation=ahead)) == [("clock_ahead", "warn")]


def test_cards_that_rest_or_are_capped_on_purpose_are_well() -> None:
    calm = seen(gpu(0, throttle_reasons=("idle",)), gpu(1, throttle_reasons=("power_cap",)))
    assert codes(facts(observation=calm)) == []


def test_what_needs_a_hand_comes_first() -> None:
    found = checks(facts(trouble="full", clock_synced=None, gaps=(1, 60.0), store_s=None))
    states = [check.state for check in found]
    assert states == sorted(states, key=list(State).index)
    assert states[0] is State.BAD


def test_every_sentence_can_be_said_and_what_is_wrong_has_a_remedy() -> None:
    said: dict[str, Check] = {}
    for more, _ in [*WRONG, ({}, None), ({"record_from_at": NOW}, None), ({"agent": False}, None),
                    ({"agent": False, "observation": None}, None),
                    ({"observation": replace(seen(gpu(0)), taken_at=NOW - 90)}, None),
                    ({"observation": replace(seen(gpu(0)), taken_at=NOW + 60)}, None)]:  # fmt: skip
        said |= {check.code: check for check in checks(facts(**more))}
    for language in LANGUAGES:
        for check in said.values():
            assert say(language, f"health.{check.code}", **dict(check.numbers))
            if check.remedy is not None:
                assert say(language, check.remedy)
            elif check.state is not State.OK:
                assert f"{check.code}_do" in MESSAGES, check.code
    sentences = {code for code in MESSAGES if not code.endswith("_do")}
    assert sentences == set(said), "a sentence that no facts lead to, or one without a test"
