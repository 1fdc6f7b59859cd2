"""The process that NVML lives in: `python -m roost.machine.nvml.helper SETUP`. It may hang.

One request in, one answer out, over a socket pair; the card being asked stands in shared memory,
so that the parent knows which one hangs. Small imports: it must start fast and stay small.
"""

from __future__ import annotations

import mmap
import os
import select
import socket
import sys
import threading
import time

import msgspec

from roost.machine.nvml.library import loaded_path
from roost.machine.nvml.protocol import (
    PROGRESS_BYTES,
    Answer,
    Ask,
    Mapped,
    Probed,
    Setup,
    identity_of,
    progress_into,
    receive,
    send,
)
from roost.machine.nvml.reader import NvmlReader

FRUITLESS = 3
CLEAN_STOP_S = 2.5
PARENT_LOOK_S = 2.0


def mapped() -> Mapped | None:
    """What NVML was loaded from, None before it is loaded. The name that updates replace stands
    for the file behind it."""
    path = loaded_path()
    if path is None:
        return None
    link = os.path.join(os.path.dirname(path), "libnvidia-ml.so.1")
    return identity_of(link if os.path.exists(link) else path) or Mapped(path, 0, 0, 0)


def exit_with_parent(peer: socket.socket) -> None:
    """Ends this process once the parent has closed its end or is gone (a child that it forked may
    still have that end open), also while a call hangs."""
    parent = os.getppid()

    def watch() -> None:
        poll = select.poll()
        poll.register(peer, select.POLLRDHUP)
        while not poll.poll(PARENT_LOOK_S * 1000) and os.getppid() == parent:
            continue
        time.sleep(CLEAN_STOP_S)  # a main thread that does not hang lets go of NVML by itself
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def serve(peer: socket.socket, reader: NvmlReader) -> int:
    """Answers until the parent closes its end. Returns the exit status."""
    decoder = msgspec.msgpack.Decoder(Ask)
    encoder = msgspec.msgpack.Encoder()
    library: Mapped | None = None
    while packet := receive(peer):
        ask = decoder.decode(packet)
        driver, gpus = reader.read(ask.skip)
        library = library or mapped()
        last = reader.fruitless_reloads >= FRUITLESS
        send(peer, encoder.encode(Answer(ask.request, driver, gpus, library, last)))
        if last:
            break
        if ask.probe is not None and reader.probe(ask.probe, ask.skip.get(ask.probe, 0)):
            send(peer, encoder.encode(Probed(ask.probe)))
    reader.close()
    return 0


def main(argument: str) -> int:
    setup = msgspec.json.decode(argument, type=Setup)
    peer = socket.socket(fileno=setup.socket_fd)
    memory = mmap.mmap(setup.progress_fd, PROGRESS_BYTES)
    os.close(setup.progress_fd)
    exit_with_parent(peer)
    reader = NvmlReader(setup.options, on_card=progress_into(memory))
    return serve(peer, reader)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
