"""Finding and preparing the cgroup under which all jobs' cgroups are made.

On systemd it is the delegated cgroup of roost-jobs.service, named by ROOST_CGROUP; elsewhere a
folder at the top of each hierarchy. What this machine does not give is left out, not an error.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace

from roost.machine import device_filter
from roost.machine.cgroup import V1_USED, V2_USED, Layout, _put
from roost.machine.device_filter import DeviceNumber

SYSTEMD_BASE = "/system.slice/roost-jobs.service"
SUPERVISORS = "supervisors"
KEEPER = "keeper"


def mounts(path: str = "/proc/self/mountinfo") -> tuple[str | None, dict[str, str]]:
    """Where cgroup v2 is mounted (None: nowhere), and where each v1 controller is."""
    unified = None
    v1: dict[str, str] = {}
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            left, _, right = line.rstrip("\n").partition(" - ")
            where, words = left.split(" ")[4], right.split(" ")
            if left.split(" ")[3] != "/":
                continue  # a bind mount of some part
            if words[0] == "cgroup2" and unified is None:
                unified = where
            elif words[0] == "cgroup":
                for option in words[2].split(","):
                    if option in {*V1_USED, "devices", "freezer"}:
                        v1.setdefault(option, where)
    return unified, v1


def own_path(path: str = "/proc/self/cgroup") -> str:
    """This process's cgroup on v2, "/" where it has none."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            if line.startswith("0::"):
                return line[3:].rstrip("\n")
    return "/"


def choose_base(named: str | None, instance: str, root: bool) -> str | None:
    """The base's path within the hierarchies, None where there is none to be had.

    `named` wins (ROOST_CGROUP). Root takes roost-jobs.service where it runs, else "/roost", with
    "-INSTANCE" behind it for an agent that is not the machine's own. Others can use only what
    systemd delegated to them (user@UID.service).
    """
    if named:
        return "/" + named.strip("/")
    suffix = f"-{instance}" if instance else ""
    if root:
        unified, v1 = mounts()
        top = unified or v1.get("pids")
        if not instance and top and os.path.isdir(top + SYSTEMD_BASE):
            return SYSTEMD_BASE
        return f"/roost{suffix}"
    mark = f"/user@{os.getuid()}.service"
    above, found, _ = own_path().partition(mark)
    return f"{above}{mark}/roost{suffix}" if found else None


def prepare(base: str | None, filter_kind: str = "auto", only_v1: bool = False) -> Layout:
    """Makes the base where it is missing and finds out what holds there. Never raises OSError.

    `filter_kind`: "auto", "bpf", "v1" or "none". `only_v1` leaves v2 alone where both are mounted.
    """
    if base is None:
        return Layout()
    unified, v1 = mounts()
    layout = Layout()
    if unified and not only_v1:
        layout = _prepare_unified(unified, base)
        if layout.unified and filter_kind in ("auto", "bpf"):
            layout = replace(layout, bpf=_bpf_works(layout.unified))
    kills = bool(layout.unified) and _has_kill(layout.unified or "")
    for controller, where in v1.items():
        if controller in layout.controllers:
            continue
        if controller == "freezer" and kills:
            continue
        if controller == "devices" and (layout.bpf or filter_kind in ("bpf", "none")):
            continue
        folder = where + base
        try:
            os.makedirs(folder, 0o755, exist_ok=True)
        except OSError:
            continue
        layout = replace(layout, v1={**layout.v1, controller: folder})
    return replace(layout, path=base) if layout.bases() else layout


def _prepare_unified(top: str, base: str) -> Layout:
    folder = top + base
    try:
        os.makedirs(folder, 0o755, exist_ok=True)
    except OSError:
        return Layout()
    _clear(folder)
    for path in _levels(top, base):
        for controller in V2_USED:
            # refused where a controller is bound to v1 or not given on from above
            with suppress(OSError):
                _put(f"{path}/cgroup.subtree_control", b"+" + controller.encode())
    with open(f"{folder}/cgroup.subtree_control", encoding="ascii") as file:
        given = file.read().split()
    if not os.access(f"{folder}/cgroup.procs", os.W_OK):
        return Layout()
    return Layout(unified=folder, controllers=tuple(c for c in V2_USED if c in given))


def _clear(folder: str) -> None:
    """A cgroup that gives controllers on may hold no process (cgroup-v2.rst, "No Internal Process
    Constraint"): the unit's keeper, should it not have moved yet, is moved into a group of its own.
    """
    for _ in range(20):
        pids: list[str] = []
        with suppress(OSError), open(f"{folder}/cgroup.procs", encoding="ascii") as file:
            pids = file.read().split()
        if not pids:
            return
        for pid in pids:
            with suppress(OSError):  # it ended, or is not ours to move
                os.makedirs(f"{folder}/{KEEPER}", 0o755, exist_ok=True)
                _put(f"{folder}/{KEEPER}/cgroup.procs", pid.encode())


def _levels(top: str, base: str) -> list[str]:
    """Where controllers are to be given on: what systemd delegated, or everything above it too."""
    parts = [part for part in base.split("/") if part]
    levels = [
        top + "".join(f"/{part}" for part in parts[:depth]) for depth in range(len(parts) + 1)
    ]
    delegated = os.path.isdir("/run/systemd/system") and len(parts) > 1
    return levels[-1:] if delegated else levels


def _probe(base: str) -> str:
    return f"{base}/probe_{os.getpid()}"


def _has_kill(base: str) -> bool:
    folder = _probe(base)
    try:
        os.mkdir(folder)
        return os.path.exists(f"{folder}/cgroup.kill")
    except OSError:
        return False
    finally:
        with suppress(OSError):
            os.rmdir(folder)


def _bpf_works(base: str) -> bool:
    folder = _probe(base)
    try:
        os.mkdir(folder)
        device_filter.attach_v2(folder, (DeviceNumber(1, 3),))
    except OSError:
        return False
    finally:
        with suppress(OSError):
            os.rmdir(folder)
    return True


def enter_supervisors(layout: Layout, pid: int) -> None:
    """Moves `pid` (the launcher) out of the agent's unit, so that ending that unit ends no job's
    supervisor. Raises OSError."""
    if layout.unified:
        folder = f"{layout.unified}/{SUPERVISORS}"
        os.makedirs(folder, 0o755, exist_ok=True)
        _put(f"{folder}/cgroup.procs", b"%d" % pid)


def tidy(layout: Layout) -> bool:
    """Removes the base where nothing is in it any more; False where it is left."""
    for base in layout.bases():
        for name in (SUPERVISORS, KEEPER):
            with suppress(OSError):
                os.rmdir(f"{base}/{name}")
        with suppress(OSError):
            os.rmdir(base)
    return not any(os.path.isdir(base) for base in layout.bases())
