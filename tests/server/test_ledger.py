"""The ledger: held exactly, observed as it was, gaps as gaps, and everything adds up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.attribution.attribute import attribute
from roost.core.attribution.model import Allocation, Known
from roost.core.observation import (
    DriverReading,
    DriverState,
    GpuProcess,
    GpuReading,
    Observation,
    Place,
    ProcessFacts,
)
from roost.server.ledger import Accumulated, Ledger
from roost.store.records import AllocationRecord

GB = 10**9


def allocation(job: int = 1, share: float = 1.0, start: float = 0.0, **more: object) -> (
    AllocationRecord
):  # fmt: skip
    values: dict[str, object] = {
        "id": job, "gpu_uuid": "G0", "job": job, "attempt": 1, "user": f"u{job}", "group": "g",
        "priority_class": "regular", "memory_bytes": None, "share": share, "from_at": start,
        "held_through": start,
    }  # fmt: skip
    return AllocationRecord(**{**values, **more})  # type: ignore[arg-type]


def seen(at: float, utilisation: int | None = 50, **more: object) -> Observation:
    values: dict[str, object] = {
        "memory_total_bytes": 80 * GB, "memory_used_bytes": 0, "power_w": 200.0, **more,
    }  # fmt: skip
    gpu = GpuReading(
        uuid="G0", index=0, name="GPU", utilisation_percent=utilisation, **values  # type: ignore
    )  # fmt: skip
    return Observation(
        taken_at=at, boot_id="b", server="s", driver=DriverReading(DriverState.OK), gpus=(gpu,)
    )


def totals(taken: Accumulated, field: str) -> dict[int, float]:
    found: dict[int, float] = {}
    for key, amount in taken.usage.items():
        found[key.job] = found.get(key.job, 0.0) + getattr(amount, field)
    return found


def test_held_seconds_are_exact_and_cut_where_the_hour_begins() -> None:
    ledger = Ledger(None, {})
    ledger.held(allocation(start=3590.0), 3605.5)
    taken = ledger.take()
    assert {key.hour: amount.held_s for key, amount in taken.usage.items()} == {0: 10, 3600: 5.5}
    assert taken.jobs[1].gpu_s == 15.5


def test_a_share_is_held_by_its_part() -> None:
    ledger = Ledger(None, {})
    ledger.held(allocation(share=0.25), 100.0)
    assert totals(ledger.take(), "held_s") == {1: 25.0}


def test_an_end_before_what_was_counted_takes_the_excess_back() -> None:
    ledger = Ledger(None, {})
    ended = ledger.held(ledger.held(allocation(), 100.0), 98.5, 98.5)
    assert ended.to_at == ended.held_through == 98.5
    assert totals(ledger.take(), "held_s") == {1: 98.5}


@given(st.lists(st.floats(0, 20_000), max_size=20), st.floats(0, 20_000))
def test_whatever_the_flushes_held_is_end_minus_start(flushes: list[float], end: float) -> None:
    ledger = Ledger(None, {})
    one = allocation()
    for at in sorted(flushes):
        one = ledger.held(one, at)
    ledger.held(one, end, end)
    assert totals(ledger.take(), "held_s").get(1, 0.0) == pytest.approx(end, abs=1e-6)


def test_busy_and_energy_go_to_who_holds_the_gpu() -> None:
    ledger = Ledger(100.0, {})
    ledger.observe(seen(102.0), None, [allocation(start=0.0)])
    taken = ledger.take()
    assert totals(taken, "busy_s") == {1: 1.0}
    assert totals(taken, "observed_s") == {1: 2.0}
    assert totals(taken, "joules") == {1: 400.0}
    assert taken.jobs[1].joules == 400.0
    assert taken.through == 102.0


def test_idle_energy_is_nobodys() -> None:
    ledger = Ledger(100.0, {})
    ledger.observe(seen(102.0, 0), None, [])
    ((key, amount),) = ledger.take().usage.items()
    assert (key.user, key.job, amount.joules) == ("", 0, 400.0)


def test_the_energy_counter_counts_more_than_power() -> None:
    ledger = Ledger(100.0, {"G0": 1000.0})
    ledger.observe(seen(102.0, energy_j=1500.0), None, [allocation()])
    ledger.observe(seen(104.0, energy_j=10.0), None, [allocation()])  # the driver was reloaded
    assert totals(ledger.take(), "joules") == {1: 900.0}


def test_an_unknown_utilisation_is_a_gap_and_not_idle() -> None:
    ledger = Ledger(100.0, {})
    ledger.observe(seen(102.0, None), None, [allocation()])
    taken = ledger.take()
    assert totals(taken, "observed_s") == {1: 0.0}
    assert taken.jobs[1].observed_s == 0.0
    assert taken.minutes[60, "G0"].utilisation_s == 0.0
    assert taken.minutes[60, "G0"].observed_s == 2.0


def test_an_hour_without_observations_is_a_gap() -> None:
    ledger = Ledger(100.0, {})
    one = allocation(start=100.0)
    ledger.observe(seen(101.0), None, [one])
    ledger.observe(seen(3701.0, 100), None, [one])
    ledger.observe(seen(3702.0), None, [one])
    ledger.held(one, 3702.0)
    taken = ledger.take()
    assert taken.gaps == [(101.0, 3701.0)]
    assert totals(taken, "observed_s") == {1: 2.0}
    assert totals(taken, "held_s") == {1: 3602.0}


def test_a_reboot_is_a_gap_however_short() -> None:
    ledger = Ledger(100.0, {})
    ledger.observe(seen(101.0), None, [])
    import dataclasses

    ledger.observe(dataclasses.replace(seen(102.0), boot_id="c"), None, [])
    assert ledger.take().gaps == [(101.0, 102.0)]


def test_the_same_observation_counts_once() -> None:
    ledger = Ledger(100.0, {})
    for at in (102.0, 102.0, 101.0):
        ledger.observe(seen(at), None, [allocation()])
    assert totals(ledger.take(), "busy_s") == {1: 1.0}


def test_two_people_on_one_card_are_split_by_memory() -> None:
    """The split is stated, and what is nobody's has a line of its own."""
    one, two = allocation(1, 0.5), allocation(2, 0.25)
    processes = tuple(
        ProcessFacts(
            pid=n, start_ticks=n, user=f"u{n}", uid=1000 + n, place=Place(None, roost_job=n,
            roost_attempt=1), comm="python",
        )
        for n in (1, 2)
    )  # fmt: skip
    listed = (GpuProcess(1, 30 * GB), GpuProcess(2, 10 * GB))
    import dataclasses

    look = seen(102.0, 80, memory_used_bytes=50 * GB, processes=listed)
    look = dataclasses.replace(look, processes=processes)
    known = Known(tuple(Allocation(f"u{n}", "g", ("G0",), n, 1) for n in (1, 2)))
    explained, _ = attribute(look, known)
    ledger = Ledger(100.0, {})
    ledger.observe(look, explained, [one, two])
    taken = ledger.take()
    assert totals(taken, "busy_s")[1] == pytest.approx(1.2)
    assert totals(taken, "busy_s")[2] == pytest.approx(0.4)
    assert totals(taken, "gb_s")[1] == pytest.approx(60.0)
    assert totals(taken, "gb_s")[0] == pytest.approx(20.0)
    assert sum(totals(taken, "joules").values()) == pytest.approx(400.0)


@given(
    st.lists(st.tuples(st.floats(0.1, 4.0), st.integers(0, 100)), min_size=1, max_size=40),
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), max_size=4),
)
def test_rows_add_up_to_what_the_card_did(
    looks: list[tuple[float, int]], spans: list[tuple[float, float]]
) -> None:
    ledger = Ledger(3550.0, {})
    held = [
        allocation(n + 1, 0.2, 3550.0 + min(span), to_at=3550.0 + max(span))
        for n, span in enumerate(spans)
    ]
    at, busy_s, joules = 3550.0, 0.0, 0.0
    for step_s, used in looks:
        at += step_s
        busy_s += step_s * used / 100
        joules += step_s * 200.0
        ledger.observe(seen(at, used), None, held)
    taken = ledger.take()
    assert sum(totals(taken, "busy_s").values()) == pytest.approx(busy_s)
    assert sum(totals(taken, "joules").values()) == pytest.approx(joules)
    for table in (taken.minutes, taken.hours):
        assert sum(r.busy_s for r in table.values()) == pytest.approx(busy_s)
        assert sum(r.observed_s for r in table.values()) == pytest.approx(at - 3550.0)
