"""The repository as a whole: nothing of one machine in it, links that lead somewhere, two READMEs
that tell the same."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.markers import Marker

ROOT = Path(__file__).resolve().parents[2]

# Written in pieces, so that this file does not find itself.
MACHINE_PATHS = ("/work" + "/main", "/work" + "/shared", "/tmp" + "/devenv", "/root" + "/.pyenv")
REGISTRY_HOSTS = (
    "pypi" + ".org",
    "files.python" + "hosted",
    "deb." + "debian.org",
    "registry." + "npmjs",
    "index" + "-url",
)


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    names = listed.stdout.decode().split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def texts() -> list[tuple[str, str]]:
    found = []
    for path in tracked():
        data = path.read_bytes()
        if b"\0" not in data[:4096]:
            found.append((str(path.relative_to(ROOT)), data.decode("utf-8", "replace")))
    return found


@pytest.mark.parametrize("word", MACHINE_PATHS + REGISTRY_HOSTS)
def test_no_path_of_one_machine_and_no_registry_is_named(word: str) -> None:
    assert [name for name, text in texts() if word in text] == []


def test_constraints_pin_every_package_with_hashes_and_name_no_index() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    packages = [line for line in lines if line and not line.startswith((" ", "#"))]
    assert packages
    for line in packages:
        assert re.match(r"^[a-z0-9-]+==[^ ]+( ; .*)? \\$", line), line
    assert all(line.strip().startswith("--hash=sha256:") for line in lines if line.startswith(" "))


def name_of(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found.group()).lower()


def pins(text: str, python: str) -> list[str]:
    """The packages that are installed with that Python, one entry for each line that applies."""
    found = re.findall(r"^([a-z0-9-]+)==\S+(?: ; (.*))? \\$", text, re.MULTILINE)
    machine = {"python_version": python, "python_full_version": f"{python}.2"}
    return [name for name, marker in found if not marker or Marker(marker).evaluate(machine)]


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_constraints_cover_every_dependency_of_the_project_on_every_python(python: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    everything = (ROOT / "constraints.txt").read_text()
    to_run = pins(everything.partition("# development\n")[0], python)
    needed = project["project"]["dependencies"] + project["build-system"]["requires"]
    assert {name_of(r) for r in needed} <= set(to_run)
    pinned = pins(everything, python)
    assert {name_of(r) for r in project["dependency-groups"]["dev"]} <= set(pinned)
    assert len(pinned) == len(set(pinned))


def markdown() -> list[Path]:
    return [path for path in tracked() if path.suffix == ".md"]


def test_links_between_documents_lead_somewhere() -> None:
    broken = []
    for path in markdown():
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text()):
            if "://" in target or target.startswith("mailto:"):
                continue
            if not (path.parent / target).exists():
                broken.append(f"{path.relative_to(ROOT)}: {target}")
    assert broken == []


def code_blocks(path: Path) -> list[str]:
    blocks = re.findall(r"```[a-z]*\n(.*?)```", path.read_text(), re.DOTALL)
    return [re.sub(r"\s*#.*", "", block) for block in blocks]


def test_both_readmes_show_the_same_commands() -> None:
    assert code_blocks(ROOT / "README.md") == code_blocks(ROOT / "README.zh-CN.md")


def test_every_document_is_found_from_the_index() -> None:
    index = (ROOT / "docs/index.md").read_text()
    pages = sorted(path.name for path in (ROOT / "docs").glob("*.md"))
    assert [name for name in pages if name != "index.md" and f"({name})" not in index] == []
