"""What the system's own files and /proc say: groups, GPUs, engines, sshd, the kernel, exports."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import tomllib
from collections.abc import Iterator

from roost.core.audit.facts import (
    ContainerEngine,
    Export,
    FileMode,
    GpuDevices,
    Member,
    Sshd,
    Toolkit,
)
from roost.core.audit.host import ENVVAR, MOUNTS
from roost.core.audit.people import ROOT_GROUPS
from roost.core.text.printable import printable
from roost.machine.audit.sudoers import admins
from roost.machine.audit.tree import Tree

TOOLKIT = "/etc/nvidia-container-runtime/config.toml"
DAEMON = "/etc/docker/daemon.json"
SSHD = "/etc/ssh/sshd_config"
SOCKETS = ("/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock")
KERNEL = (
    "fs.suid_dumpable", "kernel.core_pattern", "kernel.yama.ptrace_scope",
    "kernel.dmesg_restrict", "kernel.perf_event_paranoid",
)  # fmt: skip
SSHD_DEFAULTS = {
    "permitrootlogin": "prohibit-password",
    "passwordauthentication": "yes",
    "permitemptypasswords": "no",
    "strictmodes": "yes",
    "x11forwarding": "no",
}
TOOL_S = 5.0
MOST_INCLUDES = 16
_GPU = re.compile(r"nvidia\d+")


def root_groups(tree: Tree) -> tuple[Member, ...]:
    try:
        trusted = admins(tree)
    except PermissionError:
        trusted = frozenset()
    people = {one.name for one in tree.people}
    return tuple(
        Member(group, user, user in trusted)
        for group in ROOT_GROUPS
        for user in sorted(tree.groups.get(group, (0, frozenset()))[1] & people)
    )


def gpu_devices(tree: Tree) -> GpuDevices:
    found: list[FileMode] = []
    for name in tree.names("/dev"):
        kind = "gpu" if _GPU.fullmatch(name) else "control" if name == "nvidiactl" else ""
        kind = "uvm" if name in ("nvidia-uvm", "nvidia-uvm-tools") else kind
        one = tree.mode(f"/dev/{name}", kind) if kind else None
        found += [one] if one is not None else []
    config = _mig_config(tree)
    one = tree.mode(f"/dev/nvidia-caps/nvidia-cap{config}", "mig_config")
    found += [one] if one is not None else []
    parameters = tree.text("/proc/driver/nvidia/params")
    if parameters is None:
        return GpuDevices(tuple(found))
    pairs = (line.partition(":") for line in parameters.splitlines())
    return GpuDevices(tuple(found), {name.strip(): value.strip() for name, _, value in pairs})


def _mig_config(tree: Tree) -> str:
    """The number of the capability that lets one change MIG."""
    for line in (tree.text("/proc/driver/nvidia-caps/mig-minors") or "").splitlines():
        if line.startswith("config "):
            return line.split()[1]
    return "1"


def container_toolkit(tree: Tree) -> tuple[Toolkit, ...]:
    path = os.fsencode(TOOLKIT)
    try:
        text = tree.text(TOOLKIT)
        if text is None:
            return ()
        said = tomllib.loads(text)
    except (OSError, tomllib.TOMLDecodeError) as error:
        return (Toolkit(path, envvar=False, mounts=False, trouble=str(error)[:200]),)
    # Of v1.20: the first is believed where nothing is said, the second is not.
    return (Toolkit(path, said.get(ENVVAR, True) is True, said.get(MOUNTS, False) is True),)


def container_engine(tree: Tree) -> ContainerEngine:
    sockets = []
    for path in SOCKETS:
        one = tree.mode(path, "socket")
        if one is not None:
            sockets.append(one)
    said = _daemon(tree)
    hosts = said.get("hosts")
    tcp = (
        {str(one) for one in hosts if str(one).startswith("tcp:")}
        if isinstance(hosts, list)
        else set()
    )
    if said.get("tlsverify") is True:
        tcp = set()
    for words in _processes(tree, b"dockerd"):
        if b"--tlsverify" in words or b"--tlsverify=true" in words:
            continue
        tcp |= set(re.findall(r"tcp://[^\s'\"]+", b" ".join(words).decode("utf-8", "replace")))
    runtime = said.get("default-runtime")
    runtime = runtime if isinstance(runtime, str) else ""
    return ContainerEngine(
        tuple(sockets), tuple(printable(one.encode()) for one in sorted(tcp)), runtime
    )


def _daemon(tree: Tree) -> dict[str, object]:
    try:
        said = json.loads(tree.text(DAEMON) or "{}")
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _processes(tree: Tree, name: bytes) -> Iterator[list[bytes]]:
    """Command lines of root's programs of that name."""
    for entry in tree.names("/proc"):
        if not entry.isdigit():
            continue
        try:
            if os.stat(tree.path(f"/proc/{entry}")).st_uid != 0:
                continue
            with open(tree.path(f"/proc/{entry}/cmdline"), "rb") as file:
                words = file.read(65536).split(b"\0")
        except OSError:
            continue  # it has ended
        if os.path.basename(words[0]) == name:
            yield words


def hidepid(tree: Tree) -> str:
    """The option of /proc: "0" where none is set."""
    for line in (tree.text("/proc/self/mounts") or tree.text("/proc/mounts") or "").splitlines():
        words = line.split()
        if len(words) >= 4 and words[1] == "/proc" and words[2] == "proc":
            options = dict(pair.partition("=")[::2] for pair in words[3].split(","))
            return options.get("hidepid", "0")
    return "0"


def sshd(tree: Tree) -> Sshd | None:
    """None without an sshd here."""
    program = shutil.which("sshd", path="/usr/sbin:/sbin:/usr/local/sbin") if tree.real else None
    if program is not None and os.geteuid() == 0:
        done = subprocess.run(
            [program, "-T"], capture_output=True, timeout=TOOL_S, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode == 0:
            lines = done.stdout.decode("utf-8", "replace").splitlines()
            said = dict(line.lower().partition(" ")[::2] for line in lines)
            if said.get("permitrootlogin") == "without-password":
                said["permitrootlogin"] = "prohibit-password"
            return Sshd({key: said[key] for key in SSHD_DEFAULTS if key in said}, asked=True)
    if tree.text(SSHD) is None:
        return None
    settings: dict[str, str] = {}
    _sshd_file(tree, SSHD, settings, 0)
    return Sshd({**SSHD_DEFAULTS, **settings}, asked=False)


def _sshd_file(tree: Tree, path: str, settings: dict[str, str], depth: int) -> None:
    """The first value of a keyword counts (sshd_config(5)); what is under Match is for some."""
    for raw in (tree.text(path) or "").splitlines():
        line = re.sub(r"^\s*(\w+)\s*=\s*", r"\1 ", raw.strip())
        words = line.split()
        if not words or line.startswith("#"):
            continue
        keyword = words[0].lower()
        if keyword == "match":
            return
        if keyword == "include" and depth < MOST_INCLUDES:
            for pattern in words[1:]:
                for name in _globbed(tree, pattern):
                    _sshd_file(tree, name, settings, depth + 1)
        elif len(words) > 1 and keyword in SSHD_DEFAULTS:
            value = words[1].strip('"').lower()
            value = "prohibit-password" if value == "without-password" else value
            settings.setdefault(keyword, value)


def _globbed(tree: Tree, pattern: str) -> list[str]:
    import fnmatch

    whole = pattern if pattern.startswith("/") else f"/etc/ssh/{pattern}"
    folder, _, name = whole.rpartition("/")
    return [f"{folder}/{one}" for one in tree.names(folder) if fnmatch.fnmatchcase(one, name)]


def kernel(tree: Tree) -> dict[str, str]:
    found = {}
    for name in KERNEL:
        text = tree.text("/proc/sys/" + name.replace(".", "/"))
        if text is not None:
            found[name] = text.strip()
    return found


def core_folder(tree: Tree) -> FileMode | None:
    """Where dumps are written, if that is a folder of its own: neither a program nor the folder
    that the process is in."""
    pattern = (tree.text("/proc/sys/kernel/core_pattern") or "").strip()
    return tree.mode(os.path.dirname(pattern), "cores") if pattern.startswith("/") else None


def tmp(tree: Tree) -> tuple[FileMode, ...]:
    found = (tree.mode(path, "tmp") for path in ("/tmp", "/var/tmp", "/dev/shm"))  # noqa: S108
    return tuple(one for one in found if one is not None)


def nfs_exports(tree: Tree) -> tuple[Export, ...]:
    files = ["/etc/exports"]
    files += [f"/etc/exports.d/{n}" for n in tree.names("/etc/exports.d") if n.endswith(".exports")]
    found = []
    for path in files:
        text = re.sub(r"\\\n", " ", tree.text(path) or "")
        for raw in text.splitlines():
            line = raw.partition("#")[0].strip()
            parts = re.match(r'("[^"]+"|\S+)\s*(.*)', line)
            if parts is None:
                continue
            common: set[str] = set()
            for client in parts[2].split():
                if client.startswith("-"):
                    common = set(client[1:].split(","))
                    continue
                name, _, options = client.partition("(")
                said = {*common, *options.rstrip(")").split(",")}
                found.append(Export(parts[1].strip('"'), name, "no_root_squash" not in said))
    return tuple(found)


def own_files(paths: dict[str, str]) -> tuple[FileMode, ...]:
    """Roost's own, links not followed: path to kind ("secret", "folder", "file")."""
    found = []
    for path, kind in paths.items():
        try:
            about = os.lstat(path)
        except OSError:
            continue
        if not stat.S_ISLNK(about.st_mode):
            mode = stat.S_IMODE(about.st_mode)
            found.append(FileMode(os.fsencode(path), kind, mode, about.st_uid))
    return tuple(found)
