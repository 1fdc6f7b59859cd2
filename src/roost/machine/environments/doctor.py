"""What is wrong with an environment, or with what surrounds it. Looks, and changes nothing: it runs
uv's check and the environment's own Python, with no code of its packages."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress

from roost.core.environments.frameworks import canonical
from roost.core.environments.model import Finding
from roost.machine.environments import venv
from roost.machine.environments.installed import Installed, installed, read
from roost.machine.environments.place import EnvError, Environment, site_packages

MOST_LINKS = 200_000
MOST_SAID = 5
PYTHON_S = 20
_MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_(\w+)$")
_OLD_MANYLINUX = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}


def examine(
    environment: Environment, variables: Mapping[str, str], home: str
) -> tuple[tuple[Finding, ...], Installed]:
    """All that can be told without a daemon; the driver is held against it by the caller."""
    path = environment.path
    inside = installed(path)
    found = [*_python(environment), *_wheels(inside, path), *_moved(path), *_links(path)]
    found += _surroundings(environment, variables, home, inside)
    if environment.description.kind == "venv" and not environment.owner:
        found += _consistent(path)
    order = {"error": 0, "warning": 1, "note": 2}
    return tuple(sorted(found, key=lambda one: order[one.level])), inside


def _python(environment: Environment) -> list[Finding]:
    path = environment.path
    python = venv.interpreter(path)
    if not os.path.lexists(python):
        return [Finding("error", "no_interpreter", {"path": python})]
    if not os.access(python, os.X_OK):
        target = os.path.realpath(python)
        return [Finding("error", "interpreter_gone", {"path": python, "target": target})]
    is_now = version_now(python)
    if is_now is None:
        return [Finding("error", "interpreter_fails", {"path": python})]
    was = environment.description.python
    if was and was.split(".")[:2] != is_now.split(".")[:2]:
        return [Finding("error", "python_changed", {"was": was, "now": is_now})]
    folders = [os.path.basename(os.path.dirname(each)) for each in site_packages(path)]
    minor = "python" + ".".join(is_now.split(".")[:2])
    if folders and minor not in folders:
        return [Finding("error", "python_changed", {"was": folders[0][6:], "now": is_now})]
    return []


def version_now(python: str) -> str | None:
    """ "3.11.2" as that program says, isolated and without site; None where it does not run."""
    words = [python, "-I", "-S", "-c", "import sys;print('%d.%d.%d' % sys.version_info[:3])"]
    try:
        done = subprocess.run(
            words, capture_output=True, timeout=PYTHON_S, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = done.stdout.decode("ascii", "replace").strip()
    return said if done.returncode == 0 and re.fullmatch(r"\d+\.\d+\.\d+", said) else None


def glibc() -> tuple[int, int] | None:
    """Of this host; None where its C library is another."""
    with suppress(ValueError, OSError):
        found = re.fullmatch(r"glibc (\d+)\.(\d+)", os.confstr("CS_GNU_LIBC_VERSION") or "")
        if found:
            return int(found[1]), int(found[2])
    return None


def _wheels(inside: Installed, path: str) -> list[Finding]:
    """Packages built for another C library, machine or Python."""
    has = glibc()
    machine = platform.machine()
    minors = {os.path.basename(os.path.dirname(each))[6:] for each in site_packages(path)}
    found = []
    for name, tags in sorted(inside.tags.items()):
        said = _wheel(name, tags, has, machine, minors)
        if said is not None:
            found.append(said)
    return found[:MOST_SAID]


def _wheel(
    name: str, tags: tuple[str, ...], has: tuple[int, int] | None, machine: str, minors: set[str]
) -> Finding | None:
    needs: list[tuple[int, int]] = []
    machines: list[str] = []
    pythons: list[bool] = []
    for tag in tags:
        python, _, rest = tag.partition("-")
        _, _, where = rest.partition("-")
        cpython = re.fullmatch(r"cp3(\d+)", python)
        stable = "-abi3-" in tag
        pythons.append(cpython is None or stable or f"3.{cpython[1]}" in minors or not minors)
        many = _MANYLINUX.match(where)
        old = re.fullmatch(r"(manylinux\d+)_(\w+)", where)
        if many:
            needs.append((int(many[1]), int(many[2])))
            machines.append(many[3])
        elif old and old[1] in _OLD_MANYLINUX:
            needs.append(_OLD_MANYLINUX[old[1]])
            machines.append(old[2])
        else:
            needs.append((0, 0))
            machines.append("" if where == "any" else where.removeprefix("linux_"))
    if not tags:
        return None
    if has is not None and min(needs) > has:
        least = min(needs)
        numbers = {"package": name, "needs": f"{least[0]}.{least[1]}", "has": f"{has[0]}.{has[1]}"}
        return Finding("error", "glibc_too_old", numbers)
    if not any(one in ("", machine) for one in machines):
        return Finding(
            "error", "other_machine", {"package": name, "built": machines[0], "here": machine}
        )
    if not any(pythons):
        return Finding("error", "other_python", {"package": name, "tag": tags[0][:40]})
    return None


def _moved(path: str) -> list[Finding]:
    """A script that names a Python elsewhere: copied or moved by hand, or another's."""
    folder = os.path.join(path, "bin")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    for name in names[:2000]:
        script = os.path.join(folder, name)
        if os.path.islink(script):
            continue
        head = read(script, 512) or ""
        shebang = re.match(r"#!\s*(/\S*python[0-9.]*)", head)
        if shebang and os.path.dirname(shebang[1]) not in (folder, "/usr/bin", "/bin"):
            return [Finding("warning", "moved", {"script": name, "python": shebang[1][:200]})]
    return []


def _links(path: str) -> list[Finding]:
    """Symbolic links to what is no more."""
    broken = 0
    first = ""
    seen = 0
    for folder, _, files in os.walk(path):
        for name in files:
            seen += 1
            full = os.path.join(folder, name)
            if os.path.islink(full) and not os.path.exists(full):
                broken += 1
                first = first or os.path.relpath(full, path)
        if seen > MOST_LINKS:
            break
    if not broken:
        return []
    return [Finding("error", "broken_links", {"count": str(broken), "first": first[:200]})]


def _surroundings(
    environment: Environment, variables: Mapping[str, str], home: str, inside: Installed
) -> list[Finding]:
    """What in the person's shell or home comes before the environment's own packages."""
    found = []
    if variables.get("PYTHONPATH"):
        found.append(Finding("warning", "pythonpath", {"value": variables["PYTHONPATH"][:200]}))
    if variables.get("PYTHONHOME"):
        found.append(Finding("warning", "pythonhome", {"value": variables["PYTHONHOME"][:200]}))
    if variables.get("LD_LIBRARY_PATH") and inside.frameworks:
        value = variables["LD_LIBRARY_PATH"][:200]
        found.append(Finding("warning", "ld_library_path", {"value": value}))
    active = variables.get("CONDA_PREFIX", "")
    if active and os.path.realpath(active) != os.path.realpath(environment.path):
        found.append(Finding("note", "conda_active", {"path": active[:200]}))
    if environment.description.kind == "conda" or _system_packages(environment.path):
        found += _user_site(environment, home, inside)
    return found


def _system_packages(path: str) -> bool:
    text = read(os.path.join(path, "pyvenv.cfg"), 65536) or ""
    return re.search(r"^include-system-site-packages\s*=\s*true", text, re.MULTILINE) is not None


def _user_site(environment: Environment, home: str, inside: Installed) -> list[Finding]:
    """Packages in ~/.local that a Python outside a venv finds before the environment's."""
    minor = ".".join(environment.description.python.split(".")[:2])
    folder = os.path.join(home, ".local", "lib", f"python{minor}", "site-packages")
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    own = {canonical(dist.name) for dist in inside.dists}
    theirs = {canonical(name.split("-")[0]) for name in names if name.endswith(".dist-info")}
    both = sorted(own & theirs)
    if not both:
        return []
    shown = ", ".join(both[:MOST_SAID])
    return [Finding("warning", "user_site", {"folder": folder, "packages": shown})]


def _consistent(path: str) -> list[Finding]:
    """uv's own check that every package finds what it requires."""
    from roost.machine.environments import tools

    try:
        words = [tools.uv(), "pip", "check", "--python", venv.interpreter(path)]
        done = subprocess.run(
            words, capture_output=True, check=False, timeout=60, stdin=subprocess.DEVNULL,
            env=tools.clean_environment({}),
        )  # fmt: skip
    except (EnvError, OSError, subprocess.TimeoutExpired):
        return []
    if done.returncode == 0:
        return []
    from roost.core.text.printable import printable

    said = [printable(line.strip()) for line in done.stderr.splitlines()]
    wrong = [line for line in said if line.startswith("The package ")]
    return [Finding("warning", "inconsistent", {"text": line[:300]}) for line in wrong[:MOST_SAID]]
