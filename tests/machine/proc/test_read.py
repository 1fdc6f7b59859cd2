"""Parsing of /proc: whatever a process calls itself, and whatever happens in between."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.text.printable import printable
from roost.machine.proc.devices import DeviceMatcher, DeviceNodes, device_nodes, node_minors
from roost.machine.proc.read import (
    GoneError,
    list_pids,
    open_process,
    parse_stat,
    parse_status,
    read_at,
    read_stat,
)

TAIL = b" S 7 42 43 0 -1 4194304 1 2 3 4 50 60 0 0 20 0 9 0 12345 1000 77 18446744073709551615 1"


@given(st.binary(max_size=15))
def test_any_name_is_read_and_the_numbers_stay_right(name: bytes) -> None:
    stat = parse_stat(b"10 (" + name + b")" + TAIL)
    assert stat.comm == name
    assert (stat.state, stat.ppid, stat.session) == ("S", 7, 43)
    assert (stat.cpu_ticks, stat.threads, stat.start_ticks, stat.rss_pages) == (110, 9, 12345, 77)


@given(st.binary(max_size=200))
def test_printable_text_never_breaks_a_terminal(raw: bytes) -> None:
    text = printable(raw)
    assert text.isprintable() or text == ""
    text.encode()


def test_text_that_is_fit_to_show_stays_as_it_is() -> None:
    assert printable("训练 °C.py \\n".encode()) == "训练 °C.py \\n"
    assert printable(b"\xff\n\t\x1b") == "\\xff\\n\\t\\x1b"
    assert printable("‮txt".encode()) == "\\u202etxt"


def test_half_a_stat_is_a_process_that_goes() -> None:
    with pytest.raises(GoneError):
        parse_stat(b"10 (x) S 1")
    with pytest.raises(GoneError):
        parse_stat(b"")


def test_status_gives_the_real_uid_and_the_pids_inside() -> None:
    status = parse_status(b"Name:\tx\\nUid:\t9\nUid:\t1000\t0\t0\t0\nNSpid:\t500\t7\n")
    assert status.uid == 1000
    assert status.ns_pids == (500, 7)
    assert parse_status(b"").uid is None


def test_the_number_of_a_dead_process_reads_as_gone() -> None:
    child = subprocess.Popen(["/bin/sleep", "60"])
    directory = open_process(b"/proc", child.pid)
    assert child.pid in list_pids(b"/proc")
    child.kill()
    child.wait()
    with pytest.raises(GoneError):
        read_at(directory, b"stat")
    os.close(directory)
    with pytest.raises(GoneError):
        read_stat(b"/proc", child.pid)
    with pytest.raises(GoneError):
        open_process(b"/proc", child.pid)


def test_own_stat_agrees_with_what_is_known() -> None:
    stat = read_stat(b"/proc", os.getpid())
    assert stat.ppid == os.getppid()
    assert stat.session == os.getsid(0)
    assert not stat.kernel_thread


def test_stand_in_nodes_are_chosen_by_the_environment_only(tmp_path: os.PathLike[str]) -> None:
    real = device_nodes({})
    assert (real.directory, real.by_name) == (b"/dev", False)
    assert 195 in real.gpu_majors
    stand_in = device_nodes({"ROOST_DEVICE_DIR": f"{tmp_path}/", "ROOST_DEVICE_MAJORS": "1,4"})
    assert stand_in.directory == os.fsencode(tmp_path)
    assert stand_in.gpu_majors == {1, 4}
    assert node_minors(stand_in) == ()
    for name in ("nvidia10", "nvidia2", "nvidiactl", "nvidia-uvm", "nvidia3x"):
        open(os.path.join(tmp_path, name), "w").close()
    assert node_minors(stand_in) == (2, 10)


def test_where_a_device_may_be_is_looked_at_and_other_files_are_not() -> None:
    matcher = DeviceMatcher(DeviceNodes())
    for target in (
        b"/dev/nvidia0",
        b"/dev/x",
        b"/tmp/innocent",
        b"/home/a/nvidia",
        b"/x (deleted)",
    ):
        assert matcher.suspicious(target)
    for target in (b"/home/alice/data.bin", b"socket:[1]", b"anon_inode:[eventpoll]"):
        assert not matcher.suspicious(target)
    assert matcher.suspicious(b"/home/alice/data.bin", deep=True)
    assert not matcher.suspicious(b"pipe:[7]", deep=True)


def test_mappings_are_known_by_their_path() -> None:
    matcher = DeviceMatcher(DeviceNodes())
    found = matcher.by_name(b"/dev/nvidia12 (deleted)")
    assert found is not None and (found.path, found.minor) == (b"/dev/nvidia12", 12)
    control = matcher.by_name(b"/dev/nvidia-uvm")
    assert control is not None and control.minor is None
    assert matcher.by_name(b"/home/x/nvidia0") is None


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: device nodes")
def test_a_node_of_another_name_is_known_by_its_number(tmp_path: os.PathLike[str]) -> None:
    node = os.path.join(tmp_path, "innocent").encode()
    os.mknod(node, 0o020666, os.makedev(1, 5))
    descriptor = os.open(node, os.O_RDWR)
    try:
        name = str(descriptor).encode()
        directory = os.open(b"/proc/self/fd", os.O_RDONLY)
        found = DeviceMatcher(DeviceNodes(gpu_majors=frozenset({1}))).decide(directory, name, node)
        assert found is not None and found.minor == 5
        other = DeviceMatcher(DeviceNodes()).decide(directory, name, b"/dev/nvidia0")
        assert other is None, "a name proves nothing"
        os.close(directory)
    finally:
        os.close(descriptor)
