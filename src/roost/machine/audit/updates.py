"""Updates that happen by themselves, and which of them take the driver or kernel along."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess

from roost.core.audit.facts import Updates
from roost.machine.audit.tree import Tree

TOOL_S = 10.0
_DRIVER = re.compile(r"(nvidia-(driver|dkms|kernel|utils|compute|headless|fabricmanager)|"
                     r"libnvidia-|linux-(modules|objects|signatures)-nvidia|cuda-drivers|"
                     r"kmod-nvidia|akmod-nvidia)")  # fmt: skip
_KERNEL = re.compile(r"(linux-image|linux-generic|linux-virtual|kernel-core|kernel$)")


def driver_updates(tree: Tree) -> tuple[Updates, ...]:
    found = (_apt(tree), _dnf(tree))
    return tuple(one for one in found if one is not None)


def _apt(tree: Tree) -> Updates | None:
    """None where unattended-upgrades is not there or is switched off."""
    if not os.path.exists(tree.path("/usr/bin/unattended-upgrade")):
        return None
    said = apt_config(tree)
    if not _on(said.get("APT::Periodic::Unattended-Upgrade", [])):
        return None
    patterns = said.get("Unattended-Upgrade::Package-Blacklist::", [])
    installed = [name for name, held in _dpkg(tree) if not held]
    free = [name for name in installed if not any(_matches(one, name) for one in patterns)]
    return Updates(
        "apt",
        tuple(sorted(name for name in free if _DRIVER.match(name))),
        tuple(sorted(name for name in free if _KERNEL.match(name))),
        said.get("Unattended-Upgrade::Automatic-Reboot", ["false"])[-1] in ("true", "1", "yes"),
    )


def apt_config(tree: Tree) -> dict[str, list[str]]:
    """Every setting of apt, as apt itself reads its files."""
    program = shutil.which("apt-config", path="/usr/bin:/bin")
    if program is None:
        return {}
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    with open(os.memfd_create("apt"), "wb", buffering=0) as where:
        if not tree.real:  # said before it reads its own files, which are below that then
            where.write(f'Dir "{tree.root}";\n'.encode())
            environment["APT_CONFIG"] = f"/proc/self/fd/{where.fileno()}"
        done = subprocess.run(
            [program, "dump"], env=environment, capture_output=True, timeout=TOOL_S, check=False,
            stdin=subprocess.DEVNULL, pass_fds=(where.fileno(),),
        )  # fmt: skip
    found: dict[str, list[str]] = {}
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        match = re.fullmatch(r'(\S+) "(.*)";', line)
        if match:
            found.setdefault(match[1], []).append(match[2])
    return found


def _on(values: list[str]) -> bool:
    """A number of days, or "always"; 0 is never."""
    return bool(values) and values[-1] not in ("", "0", "false", "no")


def _matches(pattern: str, name: str) -> bool:
    """As unattended-upgrades does: a regular expression from the name's begin on."""
    try:
        return re.match(pattern, name) is not None
    except re.error:
        return False


def _dpkg(tree: Tree) -> list[tuple[str, bool]]:
    """Installed packages, and whether each is held."""
    found = []
    with_status = tree.path("/var/lib/dpkg/status")
    try:
        with open(with_status, encoding="utf-8", errors="replace") as file:
            name = ""
            for line in file:
                if line.startswith("Package: "):
                    name = line[9:].strip()
                elif line.startswith("Status: "):
                    words = line[8:].split()
                    if words[-1:] == ["installed"]:
                        found.append((name, words[0] == "hold"))
    except FileNotFoundError:
        return []
    return found


def _dnf(tree: Tree) -> Updates | None:
    """None where dnf-automatic installs nothing."""
    automatic = _ini(tree, "/etc/dnf/automatic.conf")
    if automatic.get("commands", "apply_updates", fallback="no").lower() not in (
        "yes",
        "true",
        "1",
    ):
        return None
    wants = tree.names("/etc/systemd/system/timers.target.wants")
    if not any(name.startswith(("dnf-automatic", "dnf5-automatic")) for name in wants):
        return None
    excluded = " ".join(
        _ini(tree, path).get(section, key, fallback="")
        for path, section in (("/etc/dnf/dnf.conf", "main"), ("/etc/dnf/automatic.conf", "base"))
        for key in ("exclude", "excludepkgs")
    )
    patterns = re.split(r"[\s,]+", excluded)
    driver = () if any("nvidia" in one for one in patterns) else _rpms(tree)
    kernel = () if any(one.startswith("kernel") for one in patterns) else ("kernel",)
    reboot = automatic.get("commands", "reboot", fallback="never").lower()
    return Updates("dnf", driver, kernel, reboot in ("when-needed", "when-changed"))


def _rpms(tree: Tree) -> tuple[str, ...]:
    """Whether a driver is installed, by its modules' folder: rpm's database needs rpm itself."""
    there = tree.text("/proc/driver/nvidia/version") is not None
    return ("nvidia-driver",) if there else ()


def _ini(tree: Tree, path: str) -> configparser.ConfigParser:
    found = configparser.ConfigParser(strict=False, interpolation=None)
    try:
        found.read_string(tree.text(path) or "")
    except configparser.Error:
        return configparser.ConfigParser()
    return found
