"""Watches the GPU device files (inotify): opened, closed, made, removed, or given other rights.

The kernel does not say by whom, so an event is only a reason to look sooner. A node that an engine
made inside a container is another inode and gives no events here; the sweep finds those.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass

from roost.machine.proc.devices import DeviceNodes, node_minors

_IN_ATTRIB, _IN_CLOSE_WRITE, _IN_CLOSE_NOWRITE, _IN_OPEN = 0x4, 0x8, 0x10, 0x20
_IN_CREATE, _IN_DELETE, _IN_DELETE_SELF, _IN_IGNORED = 0x100, 0x200, 0x400, 0x8000
_IN_NONBLOCK, _IN_CLOEXEC, _IN_ONLYDIR = 0o4000, 0o2000000, 0x1000000
_HEADER = struct.Struct("iIII")


@dataclass(frozen=True, slots=True)
class Events:
    """What happened since the last look. `changed`: nodes appeared, went, or changed rights."""

    opened: bool = False
    closed: bool = False
    changed: bool = False


NONE = Events()


class DeviceWatch:
    """A set of inotify watches; without inotify (limits reached) it reports nothing for ever."""

    def __init__(self, nodes: DeviceNodes) -> None:
        self._nodes = nodes
        self._watched: dict[int, int] = {}
        self._add: Callable[[int, bytes, int], int] | None = None
        self._descriptor = -1
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            self._descriptor = libc.inotify_init1(_IN_NONBLOCK | _IN_CLOEXEC)
            self._add = libc.inotify_add_watch
        except AttributeError:
            return
        if self._descriptor >= 0:
            mask = _IN_CREATE | _IN_DELETE | _IN_ATTRIB | _IN_ONLYDIR
            self._directory = self._add(self._descriptor, nodes.directory, mask)
            self._watch_nodes()

    @property
    def active(self) -> bool:
        return self._descriptor >= 0

    def events(self) -> Events:
        """Drains the queue without waiting."""
        if self._descriptor < 0:
            return NONE
        opened = closed = changed = False
        while True:
            try:
                data = os.read(self._descriptor, 65536)
            except OSError:
                break  # empty
            at = 0
            while at + _HEADER.size <= len(data):
                watch, mask, _, length = _HEADER.unpack_from(data, at)
                name = data[at + _HEADER.size : at + _HEADER.size + length].rstrip(b"\0")
                at += _HEADER.size + length
                if watch == self._directory:
                    changed = changed or name.startswith(b"nvidia")
                elif mask & (_IN_IGNORED | _IN_DELETE_SELF):
                    self._watched = {m: w for m, w in self._watched.items() if w != watch}
                    changed = True
                else:
                    opened = opened or bool(mask & _IN_OPEN)
                    closed = closed or bool(mask & (_IN_CLOSE_WRITE | _IN_CLOSE_NOWRITE))
                    changed = changed or bool(mask & _IN_ATTRIB)
        if changed:
            self._watch_nodes()
        return Events(opened, closed, changed)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _watch_nodes(self) -> None:
        if self._add is None:
            return
        mask = _IN_OPEN | _IN_CLOSE_WRITE | _IN_CLOSE_NOWRITE | _IN_ATTRIB | _IN_DELETE_SELF
        for minor in node_minors(self._nodes):
            if minor not in self._watched:
                path = b"%s/nvidia%d" % (self._nodes.directory, minor)
                watch = self._add(self._descriptor, path, mask)
                if watch >= 0:
                    self._watched[minor] = watch
