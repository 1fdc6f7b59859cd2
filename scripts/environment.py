"""Makes the project's Python environment and prints its bin folder.

`run` holds what Roost needs, `dev` also what its tests need, both at the versions and hashes of
constraints.txt. It is made anew when constraints.txt, pyproject.toml or the Python changed.
`usable` and `shared` only answer, by exit code, whether this Python can serve, and whether other
accounts can execute it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEVELOPMENT = "# development\n"


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def open_to_all(path: Path) -> bool:
    """Whether every account can enter all folders above it, and read it."""
    folders = [*path.parents]
    return all(f.stat().st_mode & 0o001 for f in folders) and bool(path.stat().st_mode & 0o004)


def place(kind: str) -> tuple[Path, bool]:
    """Where the environment goes, and whether the source tree itself is used by it (editable).

    As root, `roost serve` gives up its rights for the account `roost`, which must still be able to
    read the program: from a checkout that others cannot enter, it is copied to a place of its own.
    """
    if kind == "run" and os.geteuid() == 0 and not open_to_all(ROOT / "src"):
        name = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
        return Path(f"/usr/local/lib/roost-checkout-{name}"), False
    return ROOT / ".venv", True


def fingerprint(paths: list[Path]) -> str:
    digest = hashlib.sha256(sys.version.encode() + os.path.realpath(sys.executable).encode())
    for path in paths:
        digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def make(folder: Path) -> None:
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        say(f"Python {version} is here without venv, in which Roost is installed. As root:")
        say(f"  apt-get install python{version}-venv")
        raise SystemExit(1)
    if folder.exists():
        shutil.rmtree(folder)
    say(f"Making the environment {folder} with Python {sys.version.split()[0]} …")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, stdout=sys.stderr)


def install(folder: Path, kind: str, editable: bool) -> None:
    pip = [str(folder / "bin/python"), "-m", "pip", "--disable-pip-version-check", "install",
           "--quiet", "--root-user-action=ignore"]  # fmt: skip
    wanted = (ROOT / "constraints.txt").read_text()
    if kind == "run":
        wanted = wanted.split(DEVELOPMENT)[0]
    listed = folder / f"{kind}.txt"
    listed.write_text(wanted)
    say("Installing the pinned dependencies …")
    subprocess.run([*pip, "--require-hashes", "-r", str(listed)], check=True, stdout=sys.stderr)
    own = ["--no-deps", "--no-build-isolation", "--force-reinstall"]
    source = ["--editable", str(ROOT)] if editable else [str(ROOT)]
    subprocess.run([*pip, *own, *source], check=True, stdout=sys.stderr)


def sources() -> list[Path]:
    """What an installed copy is made from: the code, and the page's source (not the built page)."""
    found = [p for top in ("src", "frontend") for p in sorted((ROOT / top).rglob("*"))]
    left_out = {"__pycache__", "node_modules"}
    page = ROOT / "src/roost/page"
    return [p for p in found if p.is_file() and page not in p.parents and not left_out & {*p.parts}]


def build_page(folder: Path) -> None:
    """Builds the page anew where its source has changed since the project was installed."""
    built = [str(folder / "bin/python"), str(ROOT / "hatch_build.py"), "--quiet"]
    subprocess.run(built, check=True, stdout=sys.stderr)


def ready(kind: str) -> Path:
    """The environment's folder, made or renewed where something that it depends on has changed."""
    folder, editable = place(kind)
    inputs = [ROOT / "constraints.txt", ROOT / "pyproject.toml", ROOT / "hatch_build.py"]
    made = fingerprint(inputs)
    complete = fingerprint(inputs + ([] if editable else sources()))
    stamps = {name: folder / f"{name}.stamp" for name in ("made", "run", "dev")}

    def fits(name: str, value: str) -> bool:
        return stamps[name].exists() and stamps[name].read_text() == value

    if fits("dev", complete) or (kind == "run" and fits("run", complete)):
        if editable:
            build_page(folder)
        return folder
    if not fits("made", made):
        os.umask(0o022)
        make(folder)
        stamps["made"].write_text(made)
    install(folder, kind, editable)
    stamps[kind].write_text(complete)
    return folder


def main() -> int:
    kind = sys.argv[1] if len(sys.argv) == 2 else ""
    if kind in ("usable", "shared"):
        fits = sys.version_info >= (3, 11)
        if kind == "shared":
            fits = fits and importlib.util.find_spec("ensurepip") is not None
            if os.geteuid() == 0:
                fits = fits and open_to_all(Path(os.path.realpath(sys.executable)))
        return 0 if fits else 1
    if kind not in ("run", "dev"):
        say("usage: environment.py run|dev|usable|shared")
        return 2
    try:
        print(ready(kind) / "bin")
    except subprocess.CalledProcessError as error:
        command = " ".join(map(str, error.cmd[:6]))
        say(f"Making the environment failed: {command} … ended with {error.returncode}; what it")
        say("said stands above. `make clean` starts afresh.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
