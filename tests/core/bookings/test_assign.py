"""Which GPUs a booking gets, and what is offered where there is no room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roost.core.bookings.assign import Timetable, assign
from roost.core.bookings.model import Site, Want
from roost.core.bookings.offers import offers
from roost.core.model import Booking, Gpu

GIB = 1 << 30
GPUS = tuple(Gpu(f"G{n}", n, "NVIDIA A100", 80 * GIB) for n in range(4))
SITE = Site(GPUS)
HOUR = 3600.0


def booking(number: int, start: float, end: float, *gpus: int, share: int | None = None) -> Booking:
    uuids = tuple(f"G{n}" for n in gpus)
    return Booking(number, "li", uuids, start * HOUR, end * HOUR, memory_bytes=share)


def test_the_free_stretch_that_is_filled_best_is_taken() -> None:
    table = Timetable([booking(1, 0, 2, 2), booking(2, 4, 8, 2)])
    assert assign(SITE, table, Want(1), 2 * HOUR, 4 * HOUR) == ("G2",)


def test_who_ends_when_another_begins_shares_no_instant_with_them() -> None:
    table = Timetable([booking(1, 0, 2, 0, 1, 2, 3)])
    assert assign(SITE, table, Want(4), 2 * HOUR, 3 * HOUR) == ("G0", "G1", "G2", "G3")
    assert assign(SITE, table, Want(1), 1.99 * HOUR, 3 * HOUR) is None


def test_a_gpu_on_which_a_job_runs_is_given_last() -> None:
    site = Site(GPUS, held={"G0": float("inf"), "G1": float("inf")})
    assert assign(site, Timetable([]), Want(2), 0.0, HOUR) == ("G2", "G3")
    assert len(assign(site, Timetable([]), Want(3), 0.0, HOUR) or ()) == 3


def test_shares_add_up_to_no_more_than_the_gpu() -> None:
    site = Site(GPUS[:1], shared=frozenset({"G0"}))
    table = Timetable([booking(1, 0, 2, 0, share=50 * GIB), booking(2, 2, 4, 0, share=30 * GIB)])
    assert assign(site, table, Want(memory_bytes=30 * GIB), 0.0, 4 * HOUR) == ("G0",)
    assert assign(site, table, Want(memory_bytes=31 * GIB), 0.0, 4 * HOUR) is None


def test_offers_are_free_and_the_nearest() -> None:
    table = Timetable([booking(1, 1, 3, 0, 1, 2, 3)])
    found = offers(SITE, table, Want(2), HOUR, 2 * HOUR, 0.0, 100 * HOUR)
    assert [(one.kind, one.starts_at / HOUR) for one in found] == [("earlier", 0.0), ("later", 3.0)]


SPANS = st.tuples(st.integers(0, 40), st.integers(1, 12), st.integers(1, 4))


@given(st.lists(SPANS, max_size=20), SPANS)
def test_nobody_is_given_or_offered_what_another_has(
    wanted: list[tuple[int, int, int]], last: tuple[int, int, int]
) -> None:
    made: list[Booking] = []
    for number, (start, length, gpus) in enumerate(wanted, 1):
        begin, end = start * HOUR, (start + length) * HOUR
        uuids = assign(SITE, Timetable(made), Want(gpus), begin, end)
        if uuids is not None:
            assert len(set(uuids)) == gpus
            made.append(Booking(number, "li", uuids, begin, end))
    for one in made:
        for other in made:
            apart = one.ends_at <= other.starts_at or other.ends_at <= one.starts_at
            assert one is other or apart or not set(one.gpu_uuids) & set(other.gpu_uuids)
    start, length, gpus = last
    table = Timetable(made)
    begin, end = start * HOUR, (start + length) * HOUR
    for offer in offers(SITE, table, Want(gpus), begin, end, 0.0, 60 * HOUR):
        assert 0.0 <= offer.starts_at < offer.ends_at <= max(60 * HOUR, end)
        for uuid in offer.gpu_uuids:
            assert table.free(uuid, offer.starts_at, offer.ends_at)
