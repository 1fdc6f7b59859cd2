"""The BPF program by what it decides, run here by hand; the kernel's word is in tests/real."""

from __future__ import annotations

import struct
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from roost.machine.device_filter import DeviceNumber, lines_v1, program
from roost.machine.private_dev import GpuAccess, view_for


def decide(code: bytes, kind: int, major: int, minor: int) -> int:
    """Interprets the few instructions that are used (Documentation/bpf/instruction-set.rst)."""
    context = {0: kind | 6 << 16, 4: major, 8: minor}
    registers = dict.fromkeys(range(11), 0)
    position = 0
    while True:
        op, regs, offset, value = struct.unpack_from("<BBhi", code, position * 8)
        dst, position = regs & 15, position + 1
        if op == 0x61:
            registers[dst] = context[offset]
        elif op == 0x57:
            registers[dst] &= value
        elif op == 0x55:
            position += offset if registers[dst] != value else 0
        elif op == 0x05:
            position += offset
        elif op == 0xB7:
            registers[dst] = value
        elif op == 0x95:
            return registers[0]
        else:
            raise AssertionError(f"unknown instruction {op:#x}")


NUMBERS = st.builds(DeviceNumber, st.integers(0, 300), st.one_of(st.none(), st.integers(0, 300)))


@given(st.lists(NUMBERS, max_size=20), st.integers(0, 300), st.integers(0, 300))
def test_exactly_the_listed_character_devices_are_allowed(
    allowed: list[DeviceNumber], major: int, minor: int
) -> None:
    wanted = any(d.major == major and d.minor in (None, minor) for d in allowed)
    code = program(allowed)
    assert decide(code, 2, major, minor) == wanted
    assert decide(code, 1, major, minor) == 0  # block devices never


def test_the_lines_of_v1_name_the_same() -> None:
    lines = lines_v1([DeviceNumber(195, 3), DeviceNumber(136)])
    assert lines == [b"c 195:3 rwm", b"c 136:* rwm"]


def test_a_job_without_gpus_has_nothing_of_the_driver(tmp_path: Path) -> None:
    view = view_for([], str(tmp_path), str(tmp_path), str(tmp_path))
    assert not [d for d in view.numbers if d.major == 195]


def test_a_mig_instance_has_its_own_capabilities_only(tmp_path: Path) -> None:
    for path, minor in (("gi1/access", 12), ("gi1/ci0/access", 13), ("gi2/access", 21)):
        file = tmp_path / "driver/nvidia/capabilities/gpu0/mig" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"DeviceFileMinor: {minor}\nDeviceFileMode: 256\nDeviceFileModify: 1\n")
    (tmp_path / "nvidia-caps").mkdir()
    for minor in (12, 13, 21):
        (tmp_path / "nvidia-caps" / f"nvidia-cap{minor}").symlink_to("/dev/null")
    # Symlinks are no device files: nothing that a user could have put there is followed.
    view = view_for([GpuAccess(0, None, 1, 0)], str(tmp_path), str(tmp_path), str(tmp_path))
    assert not [node for node in view.nodes if node.name.startswith("nvidia-caps")]
