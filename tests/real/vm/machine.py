"""Runs the virtual machine: qemu without KVM, two serial ports, a time limit.

The guest's console is kept for reading after a failure; the second port carries what the test
inside says, one JSON object a line.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.real.vm.image import Image

KERNEL_LINE = "console=ttyS0 quiet no_timer_check panic=-1 psi=1 systemd.show_status=0 rw"


@dataclass(frozen=True, slots=True)
class Boot:
    """What one boot said, how long it took, and whether it ended by itself."""

    reports: tuple[dict[str, object], ...]
    console: str
    seconds: float
    ended: bool


def read_reports(port: Path) -> tuple[dict[str, object], ...]:
    """The whole JSON lines of the second serial port; kernel noise and torn lines are left out."""
    if not port.exists():
        return ()
    reports = []
    for line in port.read_bytes().decode("utf-8", "replace").splitlines():
        if not line.startswith("{"):
            continue
        try:
            reports.append(json.loads(line))
        except ValueError:
            continue
    return tuple(reports)


def boot(image: Image, disk: Path, payload: Path, folder: Path, limit_s: float) -> Boot:
    """Boots once, until the guest powers off or resets, or it is killed at the limit."""
    port = folder / "reports"
    console = folder / "console"
    port.write_bytes(b"")
    started = time.monotonic()
    with open(console, "wb") as out:
        process = subprocess.Popen(
            _command(image, disk, payload, port),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(limit_s)
            ended = True
        except subprocess.TimeoutExpired:
            ended = False
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
    seconds = time.monotonic() - started
    said = console.read_bytes().decode("utf-8", "replace")
    return Boot(read_reports(port), said, seconds, ended)


def _command(image: Image, disk: Path, payload: Path, port: Path) -> Sequence[str]:
    drives = [
        f"file={disk},format=raw,if=virtio,cache=unsafe",
        f"file={payload},format=raw,if=virtio,readonly=on",
    ]
    return [
        "qemu-system-x86_64",
        "-accel", "tcg,thread=multi",
        "-cpu", "max",
        "-m", "2G",
        "-smp", "2",
        "-kernel", str(image.kernel),
        "-initrd", str(image.initrd),
        "-append", KERNEL_LINE,
        *(word for drive in drives for word in ("-drive", drive)),
        "-display", "none",
        "-serial", "stdio",
        "-serial", f"file:{port}",
        "-monitor", "none",
        "-no-reboot",
        "-nic", "none",
    ]  # fmt: skip
