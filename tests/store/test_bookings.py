"""No GPU is booked twice at one instant, whoever writes: the database holds that by itself."""

from __future__ import annotations

import pytest
from sqlalchemy.exc import DBAPIError

from roost.store import bookings
from roost.store.bookings import BookingRecord
from roost.store.database import Store
from roost.store.errors import StoreError


def record(
    number: int, start: int, end: int, *gpus: str, share: int | None = None
) -> BookingRecord:
    return BookingRecord(
        id=number, user="li", uid=1001, group="cv", starts_at=start, ends_at=end, made_at=1.5,
        made_by="li", gpus=len(gpus), gpu_uuids=gpus, memory_bytes=share, purpose="论文 🚀",
    )  # fmt: skip


def test_a_booking_comes_back_as_it_was(store: Store) -> None:
    made = [record(1, 100, 200, "GPU-0", "GPU-1"), record(2, 200, 300, "GPU-0")]
    with store.write() as connection:
        bookings.store_bookings(connection, made, [])
    with store.read() as connection:
        assert bookings.live_bookings(connection) == made
        assert bookings.highest_booking(connection) == 2
        assert bookings.bookings_between(connection, 150.0, 200.0, None, 9) == made[:1]


@pytest.mark.parametrize("share", [None, 1 << 30])
def test_a_gpu_that_is_booked_is_not_booked_again(store: Store, share: int | None) -> None:
    with store.write() as connection:
        bookings.store_bookings(connection, [record(1, 100, 200, "GPU-0")], [])
    again = record(2, 199, 300, "GPU-1", "GPU-0", share=share)
    with pytest.raises((StoreError, DBAPIError)), store.write() as connection:
        bookings.store_bookings(connection, [again], [])
    with store.read() as connection:
        assert [one.id for one in bookings.live_bookings(connection)] == [1]


def test_two_may_swap_in_one_transaction(store: Store) -> None:
    one, two = record(1, 100, 200, "GPU-0"), record(2, 100, 200, "GPU-1")
    with store.write() as connection:
        bookings.store_bookings(connection, [one, two], [])
    swapped = [record(1, 100, 200, "GPU-1"), record(2, 100, 200, "GPU-0")]
    with store.write() as connection:
        bookings.store_bookings(connection, [], swapped)
    with store.read() as connection:
        assert bookings.live_bookings(connection) == swapped
