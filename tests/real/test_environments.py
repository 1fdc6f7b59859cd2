"""Environments of two people on a real daemon: side by side, on few disk blocks, shared and safe.

Packages come from wheels made here, so that nothing asks a registry. What is measured on the disk
is `st_blocks`, each inode once.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.real.rig import Account, Daemon, accounts, daemon, readable_python
from tests.wheels import Index, conda_channel, framework, index, wheel

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]
LIBRARY_MIB = 24


@dataclass
class Place:
    roost: Daemon
    ann: Account
    ben: Account
    wheels: Path
    index: Index
    bin: Path

    def cli(self, who: Account, *words: str, check: bool = True, **more: str) -> Any:
        return self.roost.cli(who.name, *words, check=check, environment=self.variables(**more))

    def json(self, who: Account, *words: str) -> Any:
        return json.loads(self.cli(who, *words, "--json").stdout)

    def variables(self, **more: str) -> dict[str, str]:
        return {
            "PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin",
            "UV_DEFAULT_INDEX": self.index.address,
            **more,
        }


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    uv = shutil.which("uv")
    assert uv, "uv is a dependency"
    folder = Path(tempfile.mkdtemp(prefix="roost-envs-"))
    folder.chmod(0o755)
    wheels, programs = folder / "wheels", folder / "bin"
    wheels.mkdir()
    programs.mkdir()
    shutil.copy(uv, programs / "uv")
    for version in ("1.8.0", "2.0.1"):
        framework(wheels, version, LIBRARY_MIB)
    with (
        accounts("ann", "ben", prefix="renv-") as (ann, ben),
        daemon() as running,
        index(wheels) as asked,
    ):
        for who in (ann, ben):
            who.home.chmod(0o700)
        try:
            yield Place(running, ann, ben, wheels, asked, programs)
        finally:
            shutil.rmtree(folder)


def blocks(*folders: Path) -> int:
    """Bytes on the disk below these folders, each inode once."""
    seen: dict[tuple[int, int], int] = {}
    for folder in folders:
        for top, names, files in os.walk(folder):
            for name in [*names, *files, "."]:
                status = os.lstat(os.path.join(top, name))
                seen[status.st_dev, status.st_ino] = status.st_blocks * 512
    return sum(seen.values())


def test_two_people_run_conflicting_versions_at_the_same_time(place: Place, tmp_path: Path):
    meeting = Path(tempfile.mkdtemp(prefix="roost-meet-"))
    meeting.chmod(0o777)
    code = (
        "import os, sys, time, smallframe, smallframe.part7\n"
        "open(sys.argv[1] + smallframe.__version__, 'w').close()\n"
        "end = time.time() + 25\n"
        "while len(os.listdir(sys.argv[1])) < 2 and time.time() < end: time.sleep(0.02)\n"
        "print(smallframe.__version__, len(os.listdir(sys.argv[1])), os.environ['VIRTUAL_ENV'])\n"
        "print(os.environ['ROOST_ENV'], sys.prefix == os.environ['VIRTUAL_ENV'])\n"
    )
    for who, version in ((place.ann, "1.8.0"), (place.ben, "2.0.1")):
        place.cli(who, "env", "create", "ml", f"smallframe=={version}")
    jobs = {}
    for who in (place.ann, place.ben):
        script = who.home / "train.sh"
        script.write_text('#!/bin/sh\n#ROOST --env ml\nsmallframe; exec python -c "$1" "$2"\n')
        words = ["run", "--json", str(script), code, f"{meeting}/"]
        jobs[who.name] = json.loads(place.cli(who, *words).stdout)["job"]
    said = {}
    for who in (place.ann, place.ben):
        place.roost.wait_state(jobs[who.name], "COMPLETED")
        said[who.name] = place.cli(who, "logs", str(jobs[who.name])).stdout.splitlines()
        shown = place.json(who, "show", str(jobs[who.name]))["jobs"][0]
        assert shown["env"] == "ml"
    shutil.rmtree(meeting)
    for who, version in ((place.ann, "1.8.0"), (place.ben, "2.0.1")):
        path = f"{who.home}/.local/share/roost/envs/ml"
        assert said[who.name] == [f"command {version}", f"{version} 2 {path}", "ml True"]
        row = place.json(who, "env", "list")["environments"][0]
        assert (row["name"], row["kind"], row["used_time"] is not None) == ("ml", "venv", True)
        assert os.stat(path).st_uid == who.uid


def test_ten_environments_cost_less_than_one_and_a_third(place: Place):
    root = place.ann.home / ".local/share/roost/envs"
    cache = place.ann.home / ".cache/uv"
    one = blocks(root / "ml")
    assert one > LIBRARY_MIB * 2**20
    for number in range(2, 6):
        place.cli(place.ann, "env", "create", f"ml{number}", "smallframe==1.8.0")
    for number in range(6, 11):
        place.cli(place.ann, "env", "clone", "ml", f"ml{number}")
    ten = blocks(*(root / name for name in ["ml", *(f"ml{n}" for n in range(2, 11))]))
    print(f"one environment {one} bytes, ten {ten}: {ten / one:.3f} times")
    assert len(os.listdir(root)) == 10
    assert ten < 1.3 * one
    assert blocks(root, cache) < 1.35 * one
    rows = {row["name"]: row for row in place.json(place.ann, "env", "list")["environments"]}
    assert rows["ml7"]["own_bytes"] < one / 20 < one * 0.9 < rows["ml7"]["shared_bytes"]
    place.cli(place.ann, "env", "remove", *(f"ml{n}" for n in range(2, 11)))
    assert os.listdir(root) == ["ml"]


def test_the_second_person_takes_no_network_and_no_disk_but_links(place: Place):
    place.cli(place.ann, "env", "share", "ml")
    shared = place.json(place.ben, "env", "list")["environments"]
    theirs = next(row for row in shared if row["owner"] == place.ann.name)
    whole = theirs["own_bytes"] + theirs["shared_bytes"]
    state = place.roost.state
    asked, before = len(place.index.asked), blocks(state / "environments", place.ben.home)
    entry = place.ben
    done = subprocess.run(
        ["unshare", "--net", "setpriv", f"--reuid={entry.uid}", f"--regid={entry.gid}",
         "--init-groups", readable_python(), "-m", "roost", "env", "clone",
         f"{place.ann.name}/ml", "mine"],
        env={"HOME": str(entry.home), "ROOST_SOCKET": str(place.roost.socket),
             **place.variables()},
        cwd=entry.home, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    grown = blocks(state / "environments", place.ben.home) - before
    print(f"shared {whole} bytes; the clone took {grown}: {grown / whole:.4f} of it")
    assert len(place.index.asked) == asked
    assert grown < 0.08 * whole
    for env in (f"{place.ann.name}/ml", "mine"):
        number = place.roost.run(
            entry.name, "--env", env, "--", "python", "-c",
            "import smallframe, smallframe.part3; print(smallframe.__version__)",
            environment=place.variables(),
        )  # fmt: skip
        place.roost.wait_state(number, "COMPLETED")
        assert place.cli(entry, "logs", str(number)).stdout == "1.8.0\n"
    assert len(place.index.asked) == asked


def test_nobody_alters_what_is_shared_and_a_clone_outlives_it(place: Place):
    theirs = f"{place.ann.name}/ml"
    row = place.json(place.ben, "env", "show", theirs)["environment"]
    target = next(Path(row["path"]).glob("lib/python3*/site-packages/smallframe/__init__.py"))
    for who in (place.ann, place.ben):
        for attempt in (
            f"echo x >> {target}",
            f"rm {target}",
            f"chmod u+w {target}",
            f"touch {target.parent}/new.py",
            f"mv {row['path']} {row['path']}-2",
        ):
            done = subprocess.run(
                ["/bin/sh", "-c", attempt], user=who.uid, group=who.gid, capture_output=True
            )
            assert done.returncode != 0, attempt
    refused = place.cli(place.ben, "env", "share", theirs, "--stop", check=False)
    assert refused.returncode == 4
    # ann changes her own, and what is shared stays as it was until she shares again
    own = next(
        (place.ann.home / ".local/share/roost/envs/ml").glob(
            "lib/python3*/site-packages/smallframe/__init__.py"
        )
    )
    own.unlink()
    own.write_text("__version__ = 'poisoned'\n")
    clone = next(
        (place.ben.home / ".local/share/roost/envs/mine").glob("lib/python3*/site-packages")
    )
    assert (clone / "smallframe/__init__.py").read_text() == "__version__ = '1.8.0'\n"
    place.cli(place.ann, "env", "share", "ml", "--stop")
    gone = place.cli(place.ben, "run", "--env", theirs, "--", "true", check=False)
    assert gone.returncode == 1
    assert theirs in gone.stderr
    assert (clone / "smallframe/__init__.py").read_text() == "__version__ = '1.8.0'\n"
    place.cli(place.ben, "env", "remove", "mine")
    audit = place.json(place.ann, "audit", "log")["audit"]
    assert {"env_share", "env_unshare"} <= {line["action"] for line in audit}


def test_what_is_uploaded_is_what_it_says_or_nothing(place: Place):
    def ask(head: str, body: bytes) -> bytes:
        code = (
            "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
            "s.sendall(sys.stdin.buffer.read()); print(s.recv(65536).decode())"
        )
        data = f"{head} HTTP/1.1\r\nHost: roost\r\nContent-Length: {len(body)}\r\n".encode()
        data += b"Content-Type: application/octet-stream\r\n\r\n" + body
        done = subprocess.run(
            ["/usr/bin/python3", "-c", code, str(place.roost.socket)], input=data,
            user=place.ben.uid, group=place.ben.gid, capture_output=True, timeout=30,
        )  # fmt: skip
        return done.stdout

    pool = place.roost.state / "environments/objects"
    names = sorted(os.listdir(pool))
    lie = bytes(32) + b"\0" + (4).to_bytes(8, "big") + b"evil"
    assert b" 422 " in ask("POST /v1/environments/objects", lie)
    assert b" 422 " in ask("POST /v1/environments/objects", b"\1" * 20)
    assert b" 422 " in ask(
        "POST /v1/environments/objects", bytes(32) + b"\0" + (2**63).to_bytes(8, "big")
    )
    assert sorted(os.listdir(pool)) == names
    assert not list(pool.glob(".coming-*"))


def test_a_job_whose_environment_is_gone_says_so_and_never_runs_outside(place: Place):
    place.cli(place.ben, "env", "create", "brief", "smallframe==2.0.1")
    number = place.roost.run(
        place.ben.name, "--hold", "--env", "brief", "--", "touch", "ran",
        environment=place.variables(),
    )  # fmt: skip
    kept = place.cli(place.ben, "env", "remove", "brief", check=False)
    assert kept.returncode == 1
    assert str(number) in kept.stderr
    place.cli(place.ben, "env", "remove", "--yes", "brief")
    place.cli(place.ben, "release", str(number))
    job = place.roost.wait_state(number, "FAILED")
    assert "brief" in job["text"]
    assert not (place.ben.home / "ran").exists()


def test_a_framework_is_read_without_importing_it_and_runs(place: Place):
    wheel(place.wheels, "torch", "2.13.0+cu999")
    made = wheel(place.wheels, "torch", "9.9.0+cu130")
    place.cli(place.ben, "env", "create", "cuda", str(made))
    found = place.json(place.ben, "env", "show", "cuda")["environment"]
    assert found["frameworks"] == [
        {"name": "torch", "version": "9.9.0+cu130", "cuda": "13.0", "gpu": True}
    ]
    number = place.roost.run(
        place.ben.name, "--no-env-check", "--env", "cuda", "--", "python", "-V",
        environment=place.variables(),
    )  # fmt: skip
    place.roost.wait_state(number, "COMPLETED")


def test_a_conda_environment_without_conda_and_its_lock(place: Place):
    pytest.importorskip("rattler")
    channel = conda_channel(
        place.wheels.parent / "channel", "smalltool", "1.2",
        {"bin/smalltool": b"#!/bin/sh\necho tool 1.2 in $CONDA_PREFIX\n"},
    )  # fmt: skip
    file = place.ben.home / "environment.yml"
    file.write_text(f"name: ignored\nchannels: [{channel}]\ndependencies: [smalltool]\n")
    place.cli(place.ben, "env", "create", "tools", "--from", str(file))
    lock = place.ben.home / "tools.lock"
    place.cli(place.ben, "env", "lock", "tools", "-o", str(lock))
    assert "smalltool-1.2-0.tar.bz2#sha256:" in lock.read_text()
    place.cli(place.ben, "env", "create", "again", "--from", str(lock))
    place.cli(place.ben, "env", "clone", "tools", "third")
    for name in ("tools", "again", "third"):
        number = place.roost.run(
            place.ben.name, "--env", name, "--", "smalltool",
            environment=place.variables(),
        )  # fmt: skip
        place.roost.wait_state(number, "COMPLETED")
        path = place.ben.home / ".local/share/roost/envs" / name
        assert place.cli(place.ben, "logs", str(number)).stdout == f"tool 1.2 in {path}\n"
    lock.write_text(lock.read_text().replace("#sha256:", "#sha256:0", 1)[:-2] + "\n")
    refused = place.cli(place.ben, "env", "create", "bad", "--from", str(lock), check=False)
    assert refused.returncode == 1
    assert not (place.ben.home / ".local/share/roost/envs/bad").exists()


def test_root_installs_nothing(place: Place):
    done = place.roost.cli("root", "env", "create", "x", "smallframe", check=False)
    assert done.returncode == 1
    assert "root" in done.stderr
