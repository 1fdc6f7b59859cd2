"""All GPUs of this process's NVML: initialises it and keeps the cards by UUID, whatever happens.

In-process on purpose: whoever must not hang asks `driver.NvmlDriver`, whose helper runs this.
NVML's index is only for showing; a card keeps its UUID and its history when indices move.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from ctypes import byref, c_int, c_void_p

from roost.core.observation import DriverReading, DriverState, GpuReading, GpuState
from roost.machine.nvml import library as nvml
from roost.machine.nvml.card import Card, CardReader
from roost.machine.nvml.inventory import kernel_version, listed_cards
from roost.machine.nvml.library import Library, LibraryError, error_name
from roost.machine.nvml.protocol import ReaderOptions
from roost.machine.nvml.static import links, read_static

NOTHING: Mapping[str, int] = {}
INIT_STATES = {
    nvml.LIBRARY_NOT_FOUND: DriverState.NO_LIBRARY,
    nvml.DRIVER_NOT_LOADED: DriverState.NOT_LOADED,
    nvml.LIB_RM_VERSION_MISMATCH: DriverState.VERSION_MISMATCH,
}
HANDLE_STATES = {
    nvml.GPU_IS_LOST: GpuState.LOST,
    nvml.RESET_REQUIRED: GpuState.RESET_REQUIRED,
    nvml.NO_PERMISSION: GpuState.NO_PERMISSION,
}
# What handles of before a reload of the driver answer.
DEAD = frozenset(
    (
        nvml.UNINITIALIZED,
        nvml.INVALID_ARGUMENT,
        nvml.DRIVER_NOT_LOADED,
        nvml.GPU_IS_LOST,
        nvml.LIB_RM_VERSION_MISMATCH,
        nvml.UNKNOWN,
    )
)


class NvmlReader:
    """Reads every GPU in this process; nothing raises for a fault of a card or the driver."""

    def __init__(
        self,
        options: ReaderOptions | None = None,
        clock: Callable[[], float] = time.monotonic,
        on_card: Callable[[int], None] = lambda index: None,
    ) -> None:
        """`on_card` is told the index before a card is asked, and -1 after the last."""
        self._options = options or ReaderOptions()
        self._clock = clock
        self._on_card = on_card
        self._library: Library | None = None
        self._reader: CardReader | None = None
        self._cards: dict[str, Card] = {}
        self._versions: tuple[str | None, str | None] = (None, None)
        self._failure = DriverReading(DriverState.NOT_LOADED)
        self._try_at = -1e9
        self._inventory_at = -1e9
        self._count = -1
        self._skipped: frozenset[str] = frozenset()
        self._reloaded_at = -1e9
        self.fruitless_reloads = 0

    def read(
        self, skip: Mapping[str, int] = NOTHING
    ) -> tuple[DriverReading, tuple[GpuReading, ...]]:
        """The driver and its cards in index order; cards of `skip` (by UUID, with the index where
        this reader has not met them) are not asked."""
        now = self._clock()
        if self._library is None and not self._start(now):
            return self._failure, self._all(GpuState.NOT_ANSWERING, self._failure.state.value)
        failure = self._take_inventory(now, skip)
        if failure is None:
            readings = self._read_cards(now, skip)
            if not self._all_dead(skip):
                self.fruitless_reloads = 0
                return self._ok(), readings
            failure = nvml.UNKNOWN
        elif failure not in DEAD:
            return (
                DriverReading(
                    DriverState.ERROR, *self._versions, f"NVML: {error_name(failure)}", "error"
                ),
                self._all(GpuState.NOT_ANSWERING, error_name(failure)),
            )
        return self._reload(now, skip)

    def probe(self, uuid: str, index: int) -> bool:
        """Asks one card that hung before. True once it answers at all; may not return for long."""
        library, reader = self._library, self._reader
        if library is None or reader is None:
            return False
        card = self._cards.get(uuid)
        index = index if card is None else card.index
        self._on_card(index)
        _, handle = library.handle(index)
        if handle is not None:
            read_static(library, handle, index, self._options.sys)
            reader.read(Card(uuid, index, {"uuid": uuid, "index": index, "name": ""}, handle), 0.0)
        self._on_card(-1)
        return True

    def close(self) -> None:
        """Lets go of the driver; the next read takes it up again."""
        if self._library is not None:
            self._library.shutdown()
        self._library = self._reader = None
        self._try_at = -1e9
        for card in self._cards.values():
            card.handle = None

    def _start(self, now: float) -> bool:
        if now < self._try_at:
            return False
        self._try_at = now + self._options.retry_s
        self._on_card(-1)
        try:
            self._library = Library()
        except LibraryError as error:
            state = INIT_STATES.get(error.code, DriverState.ERROR)
            self._failure = DriverReading(
                state,
                kernel_version(self._options.proc),
                None,
                f"nvmlInit: {error_name(error.code)}",
                state.value,
            )
            return False
        library = self._library
        _, version = library.text("nvmlSystemGetDriverVersion", size=80)
        cuda = c_int()
        function = library.first(
            "nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"
        )
        known = function is not None and function(byref(cuda)) == nvml.OK
        self._versions = (
            version or None,
            f"{cuda.value // 1000}.{cuda.value % 1000 // 10}" if known else None,
        )
        self._reader = CardReader(library, self._options.slow_s, self._options.graphics_s)
        for card in self._cards.values():
            card.handle, card.retry_at = None, 0.0
        self._count = -1
        return True

    def _ok(self) -> DriverReading:
        return DriverReading(DriverState.OK, *self._versions)

    def _take_inventory(self, now: float, skip: Mapping[str, int]) -> int | None:
        """Handles by index and UUID when something may have moved. NVML's code for a failure."""
        assert self._library is not None
        code, count = self._library.count()
        if code:
            return code
        waiting = any(
            card.handle is None and card.uuid not in skip and now >= card.retry_at
            for card in self._cards.values()
        )
        late = now - self._inventory_at >= self._options.inventory_s
        asked = frozenset(skip)
        if count == self._count and asked == self._skipped and not waiting and not late:
            return None
        self._count, self._skipped, self._inventory_at = count, asked, now
        self._enumerate(now, count, skip)
        self._on_card(-1)
        return None

    def _enumerate(self, now: float, count: int, skip: Mapping[str, int]) -> None:
        library = self._library
        assert library is not None
        skipped = {
            self._cards[uuid].index if uuid in self._cards else index
            for uuid, index in skip.items()
        }
        seen: set[str] = set()
        nameless: list[tuple[int, int]] = []
        fresh = False
        for index in range(count):
            if index in skipped:
                continue
            self._on_card(index)
            code, handle = library.handle(index)
            uuid = ""
            if handle is not None:
                code, uuid = library.text("nvmlDeviceGetUUID", handle)
            if handle is None or code:
                nameless.append((index, code))
                continue
            seen.add(uuid)
            fresh |= self._place(uuid, index, handle)
        taken = {self._cards[uuid].index for uuid in seen}
        for index, code in nameless:
            seen.add(self._nameless(now, index, code, seen, count))
        for card in self._cards.values():
            if card.uuid in seen or card.uuid in skip:
                continue
            card.handle, card.retry_at = None, now + self._options.recheck_s
            card.state, card.detail = GpuState.MISSING, ""
        if fresh:
            self._link()
        self._forget_placeholders(seen, taken)

    def _place(self, uuid: str, index: int, handle: c_void_p) -> bool:
        """Gives a card its handle and index. True when its facts were read anew."""
        assert self._library is not None
        card = self._cards.get(uuid)
        if (
            card is not None
            and card.handle is not None
            and card.handle.value == handle.value
            and card.index == index
        ):
            return False
        static = read_static(self._library, handle, index, self._options.sys)
        if isinstance(static, int):
            return False
        if card is None:
            self._cards[uuid] = Card(uuid, index, static.facts, handle)
        else:
            static.facts["links"] = card.static.get("links", ())
            card.index, card.static, card.handle = index, static.facts, handle
            card.slow_at = card.graphics_at = -1e9
        return True

    def _nameless(self, now: float, index: int, code: int, seen: set[str], count: int) -> str:
        """A card without a handle: the one that was at that index, or that /proc lists there."""
        card = next(
            (c for c in self._cards.values() if c.index == index and c.uuid not in seen), None
        )
        if card is None:
            listed = listed_cards(self._options.proc)
            there = listed[index] if len(listed) == count else None
            uuid = there.uuid if there is not None and there.uuid else f"GPU-unknown-{index}"
            facts: dict[str, object] = {"uuid": uuid, "index": index, "name": "?"}
            if there is not None:
                facts |= {"name": there.name or "?", "pci_bus_id": there.bus_id}
                facts["minor"] = there.minor
            card = self._cards.setdefault(uuid, Card(uuid, index, facts, None))
        card.handle, card.retry_at = None, now + self._options.recheck_s
        card.state = HANDLE_STATES.get(code, GpuState.ERROR)
        card.detail = f"nvmlDeviceGetHandleByIndex: {error_name(code)}"
        card.codes = {code}
        return card.uuid

    def _forget_placeholders(self, seen: set[str], taken: set[int]) -> None:
        """An unnamed card that has got its name by now is not missing."""
        for uuid in [u for u in self._cards if u.startswith("GPU-unknown-") and u not in seen]:
            if self._cards[uuid].index in taken:
                del self._cards[uuid]

    def _link(self) -> None:
        assert self._library is not None
        living = [(card.uuid, card.handle) for card in self._cards.values() if card.handle]
        found = links(self._library, [(uuid, handle) for uuid, handle in living if handle])
        for uuid, others in found.items():
            self._cards[uuid].static["links"] = others

    def _read_cards(self, now: float, skip: Mapping[str, int]) -> tuple[GpuReading, ...]:
        assert self._reader is not None
        readings = []
        for card in self._in_order():
            if card.uuid in skip:
                readings.append(card.reading(GpuState.NOT_ANSWERING, "its calls hang"))
                continue
            if card.handle is not None:
                self._on_card(card.index)
            readings.append(self._reader.read(card, now))
            if card.handle is None and card.retry_at <= now:
                card.retry_at = now + self._options.recheck_s
        self._on_card(-1)
        return tuple(readings)

    def _all_dead(self, skip: Mapping[str, int]) -> bool:
        """Whether no card gave anything but what handles of a reloaded driver give."""
        asked = [c for c in self._cards.values() if c.uuid not in skip and c.codes]
        return bool(asked) and all(
            card.codes & DEAD and nvml.OK not in card.codes for card in asked
        )

    def _reload(
        self, now: float, skip: Mapping[str, int]
    ) -> tuple[DriverReading, tuple[GpuReading, ...]]:
        """Shutdown, initialisation and fresh handles, not oftener than each `reload_s`."""
        reloading = DriverReading(
            DriverState.RELOADING, *self._versions, "handles are dead", "reloading"
        )
        if now - self._reloaded_at < self._options.reload_s:
            if self._cards and all(c.state is not GpuState.OK for c in self._cards.values()):
                return self._ok(), self._as_they_are()
            return reloading, self._all(GpuState.NOT_ANSWERING, "reloading")
        self._reloaded_at = now
        self.close()
        if not self._start(now):
            return self._failure, self._all(GpuState.NOT_ANSWERING, self._failure.state.value)
        failure = self._take_inventory(now, skip)
        if failure is not None:
            self.fruitless_reloads += 1
            return reloading, self._all(GpuState.NOT_ANSWERING, error_name(failure))
        readings = self._read_cards(now, skip)
        self.fruitless_reloads = self.fruitless_reloads + 1 if self._all_dead(skip) else 0
        return self._ok(), readings

    def _as_they_are(self) -> tuple[GpuReading, ...]:
        return tuple(card.reading(card.state, card.detail) for card in self._in_order())

    def _all(self, state: GpuState, detail: str) -> tuple[GpuReading, ...]:
        return tuple(card.reading(state, detail) for card in self._in_order())

    def _in_order(self) -> list[Card]:
        """By index; a missing card stands behind the one that has its index now."""
        return sorted(self._cards.values(), key=lambda c: (c.index, c.state is GpuState.MISSING))
