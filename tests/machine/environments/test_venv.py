"""Real environments by uv from wheels made here: locked, cloned, measured, doctored, packed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from roost.core.environments.sources import SourceKind
from roost.machine.environments import cloning, links, parcel, place, venv
from roost.machine.environments.doctor import examine
from roost.machine.environments.installed import installed
from roost.machine.environments.place import EnvError
from roost.server.environments.manifest import read
from tests.wheels import framework, wheel


@pytest.fixture(autouse=True)
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """uv looks into a folder of wheels alone, and caches beside it."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_PYTHON", "/usr/bin/python3")
    framework(folder, "1.8.0", 1)
    framework(folder, "2.0.1", 1)
    return folder


def made(root: Path, name: str = "ml", *words: str, **more: object) -> place.Environment:
    wanted = venv.Wanted(name, python="/usr/bin/python3", requirements=words, **more)  # type: ignore[arg-type]
    venv.create(str(root), wanted, "ann")
    return place.needed(str(root), name)


def module(environment: place.Environment) -> Path:
    return next(Path(environment.path).glob("lib/python3*/site-packages/smallframe"))


def test_conflicting_versions_lie_side_by_side_and_each_says_its_own(tmp_path: Path):
    one = made(tmp_path / "e", "one", "smallframe==1.8.0")
    two = made(tmp_path / "e", "two", "smallframe>=2")
    versions = [installed(each.path).dists[0].version for each in (one, two)]
    assert versions == ["1.8.0", "2.0.1"]
    assert [each.name for each in place.own(str(tmp_path / "e"))] == ["one", "two"]
    assert sorted(os.listdir(tmp_path / "e")) == ["one", "two"]


def test_the_lock_makes_the_same_again_and_another_hash_makes_nothing(tmp_path: Path):
    one = made(tmp_path / "e", "one", "smallframe")
    lock = cloning.lock_of(one, str(tmp_path))
    assert lock.startswith("smallframe==2.0.1 \\\n")
    assert "--hash=sha256:" in lock
    file = tmp_path / "locked.txt"
    file.write_text(lock)
    again = made(tmp_path / "e", "two", file=str(file), kind=SourceKind.LOCKED, text=lock)
    assert cloning.lock_of(again, str(tmp_path)) == lock
    wrong = lock.replace("sha256:", "sha256:0")[:-1]
    wrong = "".join(
        line[: line.index("sha256:") + 7] + "0" * 64 + "\n" if "sha256:" in line else line + "\n"
        for line in wrong.splitlines()
    )
    with pytest.raises(EnvError, match="build_failed"):
        made(tmp_path / "e", "bad", file=str(file), kind=SourceKind.LOCKED, text=wrong)
    assert sorted(os.listdir(tmp_path / "e")) == ["one", "two"]


def test_what_was_installed_by_hand_is_in_the_lock(tmp_path: Path, wheels: Path):
    one = made(tmp_path / "e", "one", "smallframe==1.8.0")
    wheel(wheels, "extra", "3.1")
    from roost.machine.environments import tools

    words = [tools.uv(), "pip", "install", "--python", venv.interpreter(one.path), "extra"]
    tools.run(words, where=str(tmp_path))
    lock = cloning.lock_of(one, str(tmp_path))
    assert "extra==3.1 \\" in lock
    assert "smallframe==1.8.0 \\" in lock


def test_a_clone_links_and_changing_it_does_not_reach_the_other(tmp_path: Path):
    one = made(tmp_path / "e", "one", "smallframe==1.8.0")
    assert cloning.clone(one, str(tmp_path / "e"), "two", "ann") > 100
    two = place.needed(str(tmp_path / "e"), "two")
    first, second = module(one) / "part1.py", module(two) / "part1.py"
    assert first.stat().st_ino == second.stat().st_ino
    own, shared = links.sizes(two.path)
    assert own < 200_000 < shared
    from roost.machine.environments import tools

    words = [tools.uv(), "pip", "install", "--python", venv.interpreter(two.path)]
    tools.run([*words, "smallframe==2.0.1"], where=str(tmp_path))
    assert installed(one.path).dists[0].version == "1.8.0"
    assert installed(two.path).dists[0].version == "2.0.1"
    done = tools.run([f"{two.path}/bin/smallframe"], where="/")
    assert done == "command 2.0.1\n"
    assert tools.run([f"{one.path}/bin/smallframe"], where="/") == "command 1.8.0\n"


def test_a_clone_of_somebody_elses_has_links_to_files_that_it_cannot_write_through(tmp_path: Path):
    one = made(tmp_path / "e", "one", "smallframe==1.8.0")
    theirs = place.Environment(one.path, one.description, "ann", 1.0)
    cloning.clone(theirs, str(tmp_path / "b"), "mine", "ben")
    mine = place.needed(str(tmp_path / "b"), "mine")
    file = module(mine) / "part1.py"
    assert file.is_symlink() or file.stat().st_ino != (module(one) / "part1.py").stat().st_ino
    assert not (Path(mine.path) / "bin/smallframe").is_symlink()
    from roost.machine.environments import tools

    code = "import smallframe, sys; print(smallframe.__version__, sys.prefix)"
    said = tools.run([venv.interpreter(mine.path), "-c", code], where="/")
    assert said == f"1.8.0 {mine.path}\n"
    words = [tools.uv(), "pip", "install", "--python", venv.interpreter(mine.path)]
    tools.run([*words, "smallframe==2.0.1"], where=str(tmp_path))
    assert installed(one.path).dists[0].version == "1.8.0"
    assert "part1" in os.listdir(module(one)) or (module(one) / "part1.py").exists()


@pytest.mark.parametrize("word", ["-r/etc/shadow", "--index=x", "", "a\nb", "-e ."])
def test_a_requirement_that_is_an_option_is_refused(tmp_path: Path, word: str):
    with pytest.raises(EnvError, match="bad_requirement"):
        made(tmp_path / "e", "x", word)
    assert not (tmp_path / "e").exists()


def test_what_cannot_be_made_leaves_nothing(tmp_path: Path):
    with pytest.raises(EnvError, match="unresolved"):
        made(tmp_path / "e", "x", "smallframe==9")
    assert os.listdir(tmp_path / "e") == []
    made(tmp_path / "e", "x")
    with pytest.raises(EnvError, match="exists"):
        made(tmp_path / "e", "x")


def codes(environment: place.Environment, **variables: str) -> list[str]:
    return [one.code for one in examine(environment, variables, "/nonexistent")[0]]


def test_the_doctor_finds_nothing_in_a_healthy_one_and_tells_what_surrounds_it(tmp_path: Path):
    one = made(tmp_path / "e", "one", "smallframe")
    assert codes(one) == []
    assert codes(one, PYTHONPATH="/x", CONDA_PREFIX="/conda") == ["pythonpath", "conda_active"]


def test_the_doctor_finds_broken_links_a_missing_python_and_a_move(tmp_path: Path):
    one = made(tmp_path / "e", "one", "smallframe")
    (Path(one.path) / "lib/gone").symlink_to("/nonexistent/file")
    assert codes(one) == ["broken_links"]
    (Path(one.path) / "lib/gone").unlink()
    (Path(one.path) / "bin/tool").write_text("#!/old/place/bin/python\n")
    assert codes(one) == ["moved"]
    (Path(one.path) / "bin/tool").unlink()
    (Path(one.path) / "bin/python").unlink()
    (Path(one.path) / "bin/python").symlink_to("/nonexistent/python3")
    assert codes(one)[0] == "interpreter_gone"


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("cp399-cp399-manylinux_2_99_x86_64", "glibc_too_old"),
        ("py3-none-manylinux2014_s390x", "other_machine"),
        ("cp399-cp399-any", "other_python"),
    ],
)
def test_the_doctor_finds_packages_of_another_machine(tmp_path: Path, tag: str, code: str):
    one = made(tmp_path / "e", "one", "smallframe")
    info = next(module(one).parent.glob("smallframe-*.dist-info")) / "WHEEL"
    info.unlink()
    info.write_text(f"Wheel-Version: 1.0\nTag: {tag}\n")
    assert codes(one)[0] == code


def test_hostile_metadata_is_read_up_to_a_bound(tmp_path: Path):
    one = made(tmp_path / "e", "one")
    site = next(Path(one.path).glob("lib/python3*/site-packages"))
    for number, text in enumerate(
        (b"", b"\xff" * 9000, b"Name: torch\nVersion: " + b"9" * 10**6, b"Name: x\n" * 9000)
    ):
        folder = site / f"p{number}-1.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_bytes(text)
    fifo = site / "f-1.dist-info"
    fifo.mkdir()
    os.mkfifo(fifo / "METADATA")
    found = installed(one.path).dists
    assert [dist.name for dist in found] == ["torch"]
    assert len(found[0].version) <= 500


def test_a_parcel_is_a_list_that_the_server_takes(tmp_path: Path):
    one = made(tmp_path / "e", "one", "smallframe==1.8.0")
    found, data = parcel.pack(one)
    manifest = read(data)
    paths = {file.path for file in manifest.files}
    assert any(path.endswith("smallframe/part1.py") for path in paths)
    assert any("__pycache__/part1." in path for path in paths)
    assert not any(path.startswith("roost-env") for path in paths)
    keys = sorted(found.sources)
    pieces, size = parcel.frames(found, keys)
    assert sum(map(len, pieces)) == size


def test_removing_takes_what_cannot_be_written_too_and_follows_no_link(tmp_path: Path):
    one = made(tmp_path / "e", "one", "smallframe")
    outside = tmp_path / "kept"
    outside.mkdir()
    (outside / "file").write_text("x")
    (Path(one.path) / "lib/out").symlink_to(outside)
    module(one).chmod(0o500)
    links.remove(str(tmp_path / "e"), "one")
    assert os.listdir(tmp_path / "e") == []
    assert (outside / "file").read_text() == "x"
    (tmp_path / "e/link").symlink_to(outside)
    with pytest.raises(EnvError):
        links.remove(str(tmp_path / "e"), "link")
    shutil.rmtree(outside)


def test_a_description_of_anything_else_is_no_environment(tmp_path: Path):
    for name, data in (("a", b""), ("b", b"[]"), ("c", b'{"name":1}'), ("d", b"x" * 100_000)):
        (tmp_path / name).mkdir()
        (tmp_path / name / place.DESCRIPTION).write_bytes(data)
    (tmp_path / "f").mkdir()
    os.mkfifo(tmp_path / "f" / place.DESCRIPTION)
    assert list(place.own(str(tmp_path))) == []
    with pytest.raises(EnvError, match="half"):
        place.needed(str(tmp_path), "a")
