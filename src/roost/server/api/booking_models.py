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


class BookedOut(Out):
    bookings: list[BookingOut]


class BookingsOut(Out):
    bookings: list[BookingOut]
