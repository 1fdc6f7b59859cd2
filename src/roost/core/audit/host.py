"""Judges the machine itself: GPUs' device files, container engines, sshd, updates, the kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from roost.core.audit.facts import (
    ContainerEngine,
    Export,
    FileMode,
    GpuDevices,
    Sshd,
    Toolkit,
    Updates,
)
from roost.core.audit.model import (
    Finding,
    HoldUpdates,
    SetKernel,
    SetMode,
    SetSshd,
    SetToolkit,
    Severity,
)
from roost.core.audit.people import OTHERS, mode_finding
from roost.core.text.printable import printable

ENVVAR = "accept-nvidia-visible-devices-envvar-when-unprivileged"
MOUNTS = "accept-nvidia-visible-devices-as-volume-mounts"
ROOTLIKE = ("root", "docker", "podman", "wheel", "sudo")


def gpu_devices(found: GpuDevices, enforcement: str) -> Iterator[Finding]:
    """Under "strict" an open device file is a hole; else it is what the rules chose."""
    strict = enforcement == "strict"
    gpus = [one for one in found.devices if one.kind == "gpu"]
    wide = [one for one in gpus if one.mode & 0o006]
    if wide:
        paths = ", ".join(printable(one.path) for one in wide)
        numbers = {"paths": paths, "mode": f"{wide[0].mode:04o}", "enforcement": enforcement}
        severity = Severity.HIGH if strict else Severity.LOW
        yield Finding("gpu-devices", "gpu_open", severity, "gpus", numbers)
    for one in found.devices:
        if one.kind == "mig_config" and one.mode & 0o006:
            change = SetMode(one.path, one.uid, one.mode, clear=OTHERS)
            yield mode_finding("gpu-devices", "mig_open", Severity.MEDIUM, one, change)
    parameters = found.parameters or {}
    resets = parameters.get("ModifyDeviceFiles") == "1"
    narrow = any(not one.mode & 0o006 for one in gpus)
    if resets and (strict or narrow) and _mode(parameters) & 0o006:
        severity = Severity.HIGH if strict else Severity.MEDIUM
        numbers = {"mode": f"{_mode(parameters):04o}"}
        yield Finding("gpu-devices", "gpu_reset", severity, "driver", numbers)
    if parameters.get("RmProfilingAdminOnly") == "0":
        yield Finding("gpu-devices", "gpu_profiling", Severity.NOTE, "profiling")


def _mode(parameters: Mapping[str, str]) -> int:
    """The driver writes it in decimal (438 is 0666)."""
    text = parameters.get("DeviceFileMode", "")
    return int(text) if text.isdigit() else 0o666


def container_toolkit(found: Iterable[Toolkit]) -> Iterator[Finding]:
    for one in found:
        path = printable(one.path)
        if one.trouble:
            numbers = {"path": path, "trouble": one.trouble}
            yield Finding("container-toolkit", "toolkit_unread", Severity.NOTE, path, numbers)
        elif one.envvar:
            change = SetToolkit(one.path, ENVVAR, "true", "false")
            numbers = {"path": path, "key": ENVVAR}
            yield Finding(
                "container-toolkit", "toolkit_envvar", Severity.MEDIUM, path, numbers, "", change
            )
        if one.mounts:
            numbers = {"path": path, "key": MOUNTS}
            yield Finding(
                "container-toolkit", "toolkit_mounts", Severity.MEDIUM, f"{path}:mounts", numbers
            )


def container_engine(found: ContainerEngine) -> Iterator[Finding]:
    for one in found.sockets:
        if one.mode & 0o002:
            change = SetMode(one.path, one.uid, one.mode, clear=OTHERS)
            yield mode_finding("container-engine", "socket_open", Severity.HIGH, one, change)
        elif one.mode & 0o020 and one.group and one.group not in ROOTLIKE:
            yield mode_finding("container-engine", "socket_group", Severity.MEDIUM, one)
    for address in found.tcp:
        numbers = {"address": address}
        yield Finding("container-engine", "engine_tcp", Severity.HIGH, address, numbers)
    if found.default_runtime == "nvidia":
        yield Finding("container-engine", "engine_runtime", Severity.MEDIUM, "default-runtime")


def hidepid(found: str) -> Iterator[Finding]:
    if found in ("0", "off", ""):
        yield Finding("processes-visible", "proc_open", Severity.LOW, "/proc")


def sshd(found: Sshd) -> Iterator[Finding]:
    """Only what sshd really goes by; its own default counts as said."""
    said = found.settings
    if said.get("permitemptypasswords") == "yes":
        change = SetSshd("PermitEmptyPasswords", "yes", "no")
        yield Finding("sshd", "sshd_empty", Severity.HIGH, "PermitEmptyPasswords", {}, "", change)
    passwords = said.get("passwordauthentication", "yes") == "yes"
    if said.get("permitrootlogin") == "yes" and passwords:
        change = SetSshd("PermitRootLogin", "yes", "prohibit-password")
        yield Finding("sshd", "sshd_root", Severity.MEDIUM, "PermitRootLogin", {}, "", change)
    if said.get("strictmodes") == "no":
        change = SetSshd("StrictModes", "no", "yes")
        yield Finding("sshd", "sshd_strict", Severity.MEDIUM, "StrictModes", {}, "", change)
    if passwords:
        yield Finding("sshd", "sshd_password", Severity.LOW, "PasswordAuthentication")
    if said.get("x11forwarding") == "yes":
        yield Finding("sshd", "sshd_x11", Severity.NOTE, "X11Forwarding")


def driver_updates(found: Iterable[Updates]) -> Iterator[Finding]:
    for one in found:
        numbers = {
            "manager": one.manager,
            "driver": _some(one.driver),
            "kernel": _some(one.kernel),
            "driver_words": " ".join(one.driver),
            "kernel_words": " ".join(one.kernel),
        }
        if one.driver:
            code = f"updates_driver_{one.manager}"
            change = HoldUpdates(one.driver) if one.manager == "apt" else None
            subject = f"{one.manager}:driver"
            yield Finding("driver-updates", code, Severity.MEDIUM, subject, numbers, "", change)
        if one.reboot:
            subject = f"{one.manager}:reboot"
            yield Finding("driver-updates", "updates_reboot", Severity.HIGH, subject, numbers)
        if one.kernel and not one.reboot:
            subject = f"{one.manager}:kernel"
            yield Finding("driver-updates", "updates_kernel", Severity.NOTE, subject, numbers)


def _some(names: tuple[str, ...], most: int = 4) -> str:
    more = f" +{len(names) - most}" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def core_dumps(kernel: Mapping[str, str], folder: FileMode | None) -> Iterator[Finding]:
    if kernel.get("fs.suid_dumpable") == "1":
        change = SetKernel("fs.suid_dumpable", "1", "2")
        yield Finding(
            "core-dumps", "dump_suid", Severity.MEDIUM, "fs.suid_dumpable", {}, "", change
        )
    if folder is not None and folder.mode & 0o002:
        yield mode_finding("core-dumps", "dump_folder", Severity.LOW, folder)


def ptrace(kernel: Mapping[str, str]) -> Iterator[Finding]:
    if kernel.get("kernel.yama.ptrace_scope", "1") == "0":
        yield Finding("ptrace", "ptrace_open", Severity.NOTE, "kernel.yama.ptrace_scope")


def kernel_leaks(kernel: Mapping[str, str]) -> Iterator[Finding]:
    if kernel.get("kernel.dmesg_restrict") == "0":
        change = SetKernel("kernel.dmesg_restrict", "0", "1")
        yield Finding(
            "kernel-leaks", "leak_dmesg", Severity.NOTE, "kernel.dmesg_restrict", {}, "", change
        )
    paranoid = kernel.get("kernel.perf_event_paranoid", "2")
    if paranoid in ("-1", "0"):
        numbers = {"value": paranoid}
        yield Finding(
            "kernel-leaks", "leak_perf", Severity.NOTE, "kernel.perf_event_paranoid", numbers
        )


def tmp(found: Iterable[FileMode]) -> Iterator[Finding]:
    for one in found:
        if one.mode & 0o002 and not one.mode & 0o1000:
            change = SetMode(one.path, one.uid, one.mode, add=0o1000, folder=True)
            yield mode_finding("tmp", "tmp_loose", Severity.HIGH, one, change)


def nfs_exports(found: Iterable[Export]) -> Iterator[Finding]:
    for one in found:
        if not one.root_squash:
            anybody = one.client in ("*", "0.0.0.0/0", "::/0", "")
            severity = Severity.HIGH if anybody else Severity.MEDIUM
            numbers = {"path": one.path, "client": one.client or "*"}
            subject = f"{one.path} {one.client or '*'}"
            yield Finding("nfs-exports", "nfs_root", severity, subject, numbers)


def roost_files(found: Iterable[FileMode]) -> Iterator[Finding]:
    """`kind` "secret": nobody else may read; "file", "folder": nobody else may write."""
    for one in found:
        bad = one.mode & (0o077 if one.kind == "secret" else 0o022)
        if one.kind == "secret" and one.mode & 0o040 and one.group in ("root", "roost"):
            bad &= ~0o040
        if one.kind == "folder" and one.mode & 0o1000:
            bad = 0
        if bad:
            code = "own_secret" if one.kind == "secret" else "own_writable"
            yield mode_finding("roost-files", code, Severity.HIGH, one)
