"""Where a process lives, from the text of its cgroup file, its command line and its environment.

Pure parsing: every format is a line of the tables in tests/machine/test_place.py. All of it can be
chosen by whoever runs the process, so nothing here is a right, only a place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from roost.core.observation import Place
from roost.core.text.printable import printable

AUDIT_UNSET = 4294967295

_HEX = rb"([0-9a-f]{64}|[0-9a-f]{32}-[0-9]{8,12})"  # the second is how ECS names containers
_SCOPES = (
    (re.compile(rb"docker-" + _HEX + rb"\.scope\Z"), "docker"),
    (re.compile(rb"libpod-" + _HEX + rb"(?:\.scope)?\Z"), "podman"),
    (re.compile(rb"(?:.*[:-])?cri-containerd[:-]" + _HEX + rb"(?:\.scope)?\Z"), "containerd"),
    (re.compile(rb"crio-" + _HEX + rb"(?:\.scope)?\Z"), "crio"),
    (re.compile(rb"nerdctl-" + _HEX + rb"\.scope\Z"), "containerd"),
    (re.compile(rb"buildkit-" + _HEX + rb"\.scope\Z"), "docker"),
)
_BARE = re.compile(_HEX + rb"\Z")
_POD = re.compile(rb"pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12})(?:\.slice|[:/]|\Z)")
_LXC = re.compile(rb"/lxc(?:\.payload)?[./]([^/]+)")
_NSPAWN = re.compile(rb"/(?:machine-(.+)\.scope|systemd-nspawn@(.+)\.service)(?:/|\Z)")
_SLURM_V1 = re.compile(rb"/slurm[^/]*/uid_\d+/([^/]+)")
_SLURM_V2 = re.compile(rb"/(?:[^/]+_)?slurmstepd\.scope/([^/]+)/")
_SLURM_JOB = re.compile(rb"job_(\d+)\Z")
_SLUID = re.compile(rb"s[0-9A-Z]{8,}\Z", re.IGNORECASE)
_SESSION = re.compile(rb"/session-([0-9a-z]+)\.scope(?:/|\Z)")
_UNIT = re.compile(rb"/([^/]+\.(?:service|scope))(?=/|\Z)")
_ROOST = re.compile(rb"/roost(?:/jobs)?/job_(\d{1,12})\.(\d{1,6})(?:/|\Z)")
_KERNEL = re.compile(r"kernel-([0-9A-Za-z-]{1,64})\.json\Z")
_TMUX = re.compile(rb"(.*),(\d+),(\d+)\Z", re.DOTALL)


def cgroup_paths(raw: bytes) -> tuple[bytes, ...]:
    """The distinct paths of /proc/PID/cgroup: that of v2 first, then systemd's, then the rest."""
    v2, systemd, rest = [], [], []
    for line in raw.split(b"\n"):
        number, _, tail = line.partition(b":")
        controllers, _, path = tail.partition(b":")
        if not path:
            continue
        if number == b"0" and not controllers:
            v2.append(path)
        elif controllers == b"name=systemd":
            systemd.append(path)
        else:
            rest.append(path)
    return tuple(dict.fromkeys(v2 + systemd + rest))


def cgroup_shown(raw: bytes) -> str | None:
    """The one path that tells most: the first that is not the root. None without a cgroup."""
    paths = cgroup_paths(raw)
    for path in paths:
        if path != b"/":
            return printable(path)
    return "/" if paths else None


def place_of_cgroup(raw: bytes, roost_bases: Sequence[bytes] = ()) -> Place:
    """The place that the cgroup file names.

    `roost_bases` are the agent's own cgroups, without a slash at the end: a job of Roost counts
    only below one of them. Without them a `roost/job_N.A` counts unless a container or a person's
    own manager is above it, where anybody can make such a cgroup.
    """
    place = Place()
    for path in cgroup_paths(raw):
        place = _merge(place, _of_path(path, roost_bases))
    return place


def place_of_process(
    place: Place,
    cmdline: Sequence[str],
    tmux_variable: bytes | None,
    audit_session: int | None,
) -> Place:
    """Adds what command line, $TMUX and /proc/PID/sessionid say to what the cgroup said."""
    session = place.login_session
    if session is None and audit_session is not None and audit_session != AUDIT_UNSET:
        session = str(audit_session)
    tmux = place.tmux or tmux_of(tmux_variable)
    kernel = place.jupyter_kernel or kernel_of(cmdline)
    return replace(place, login_session=session, tmux=tmux, jupyter_kernel=kernel)


def tmux_of(variable: bytes | None) -> str | None:
    """ "server:session" of a value of $TMUX ("/tmp/tmux-1000/default,1234,0"), else None."""
    found = _TMUX.match(variable or b"")
    if not found:
        return None
    return f"{printable(found.group(1).rpartition(b'/')[2])}:{found.group(3).decode()}"


def kernel_of(cmdline: Sequence[str]) -> str | None:
    """The kernel's id in `python -m ipykernel_launcher -f …/kernel-ID.json`, else None."""
    for argument in cmdline:
        found = _KERNEL.search(argument)
        if found and any("kernel" in other for other in cmdline if other != argument):
            return found.group(1)
    return None


def _of_path(path: bytes, roost_bases: Sequence[bytes]) -> Place:
    container, engine = _container(path)
    pod = _POD.search(path)
    session = _SESSION.search(path)
    units = _UNIT.findall(path)
    unit = None
    if units and not container and not session:
        unit = printable(units[-1])
    job, attempt = _roost(path, roost_bases, bool(container))
    return Place(
        container_id=container,
        container_engine=engine,
        pod=pod.group(1).replace(b"_", b"-").decode() if pod else None,
        systemd_unit=unit,
        login_session=session.group(1).decode() if session else None,
        slurm_job=_slurm(path),
        roost_job=job,
        roost_attempt=attempt,
    )


def _container(path: bytes) -> tuple[str | None, str | None]:
    parts = path.split(b"/")
    # The outermost one is the container that this host's engine knows.
    for above, part in pairwise(parts):
        for pattern, engine in _SCOPES:
            found = pattern.match(part)
            if found:
                return found.group(1).decode(), engine
        bare = _BARE.match(part)
        if bare:
            if above == b"docker" or above == b"buildkit":
                return bare.group(1).decode(), "docker"
            if above.startswith(b"pod") or b"kubepods" in path:
                return bare.group(1).decode(), "kubernetes"
            return bare.group(1).decode(), "containerd" if above == b"default" else "unknown"
    lxc = _LXC.search(path)
    if lxc and b"/lxc.monitor" not in path:
        return printable(lxc.group(1)), "lxc"
    nspawn = _NSPAWN.search(path)
    if nspawn:
        name = nspawn.group(1) or nspawn.group(2)
        return printable(name.replace(b"\\x2d", b"-")), (
            "libvirt" if name.startswith((b"qemu", b"lxc")) else "nspawn"
        )
    return None, None


def _slurm(path: bytes) -> str | None:
    found = _SLURM_V1.search(path) or _SLURM_V2.search(path)
    if not found or found.group(1) == b"system":
        return None
    job = _SLURM_JOB.match(found.group(1))
    if job:
        return job.group(1).decode()
    return found.group(1).decode() if _SLUID.match(found.group(1)) else "?"


def _roost(
    path: bytes, bases: Sequence[bytes], in_container: bool
) -> tuple[int | None, int | None]:
    if bases:
        for base in bases:
            if path.startswith(base + b"/"):
                found = _ROOST.match(path, len(base)) or _JOB.match(path, len(base))
                if found:
                    return int(found.group(1)), int(found.group(2))
        return None, None
    found = _ROOST.search(path)
    if not found or in_container or b"/user@" in path[: found.start()]:
        return None, None
    return int(found.group(1)), int(found.group(2))


_JOB = re.compile(rb"(?:/jobs)?/job_(\d{1,12})\.(\d{1,6})(?:/|\Z)")


def _merge(first: Place, second: Place) -> Place:
    """`first`, with what it does not know taken from `second` (v1 has one line a controller)."""
    if first.container_id or second.container_id is None:
        container, engine = first.container_id, first.container_engine
    else:
        container, engine = second.container_id, second.container_engine
    job, attempt = first.roost_job, first.roost_attempt
    if job is None:
        job, attempt = second.roost_job, second.roost_attempt
    return Place(
        container_id=container,
        container_engine=engine,
        pod=first.pod or second.pod,
        systemd_unit=None if container else first.systemd_unit or second.systemd_unit,
        login_session=first.login_session or second.login_session,
        slurm_job=first.slurm_job or second.slurm_job,
        roost_job=job,
        roost_attempt=attempt,
    )
