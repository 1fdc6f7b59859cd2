"""What the API takes and gives of bookings."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from roost.server.api.shapes import In, Out

Text = Annotated[str, Field(max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")]


class BookIn(In):
    start: Annotated[str, Field(max_length=64)]
    end: Annotated[str, Field(max_length=64)] | None = None
    duration_s: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    gpus: Annotated[int, Field(ge=1, le=4096)] = 1
    chosen: Annotated[
        tuple[Annotated[str, Field(max_length=100)], ...], Field(max_length=4096)
    ] = ()
    gpu_memory_bytes: Annotated[int, Field(ge=1, le=2**53)] | None = None
    gpu_model: Annotated[str, Field(max_length=100)] | None = None
    group: Annotated[str, Field(max_length=200)] | None = None
    purpose: Text = ""
    public: bool = False
    maintenance: bool = False
    wait: bool = False
    dry_run: bool = False
    repeat: Annotated[str, Field(max_length=500)] | None = None
    except_: Annotated[
        tuple[Annotated[str, Field(max_length=40)], ...], Field(max_length=1000, alias="except")
    ] = ()
    skip: bool = False
    user: Annotated[str, Field(max_length=200)] | None = None


class BatchIn(In):
    bookings: Annotated[tuple[BookIn, ...], Field(min_length=1, max_length=1000)]
    skip: bool = False
    dry_run: bool = False


class ChangeIn(In):
    start: Annotated[str, Field(max_length=64)] | None = None
    end: Annotated[str, Field(max_length=64)] | None = None
    duration_s: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    gpus: Annotated[int, Field(ge=1, le=4096)] | None = None
    chosen: (
        Annotated[tuple[Annotated[str, Field(max_length=100)], ...], Field(max_length=4096)] | None
    ) = None
    gpu_memory_bytes: Annotated[int, Field(ge=1, le=2**53)] | None = None
    gpu_model: Annotated[str, Field(max_length=100)] | None = None
    purpose: Text | None = None
    public: bool | None = None
    dry_run: bool = False


class CancelIn(In):
    series: bool = False


class GiveIn(In):
    to: Annotated[str, Field(min_length=1, max_length=200)]


class SwapIn(In):
    with_: Annotated[int, Field(ge=0, le=2**53, alias="with")]


class BookingOut(Out):
    booking: int
    user: str
    group: str
    state: str
    gpus: list[str]
    gpu_indices: list[int]
    wanted: int
    gpu_memory_bytes: int | None
    start: str | None
    end: str | None
    purpose: str | None
    public: bool
    maintenance: bool
    made_time: str | None
    made_by: str
    gpu_model: str | None
    used_time: str | None
    closed_time: str | None
    series: int | None
    repeat: str | None
    may_change: bool
    swap_with: int | None


class ClosedOut(BookingOut):
    closed: list[int]


class SwappedOut(Out):
    swapped: bool
    bookings: list[BookingOut]


class BookedOut(Out):
    bookings: list[BookingOut]


class BookingsOut(Out):
    bookings: list[BookingOut]
