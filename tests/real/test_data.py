"""Shared data, as root with real accounts: kept once, read by all, written by nobody, and nothing
that a hostile owner puts in the way gets root to read or write elsewhere."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.real import rig

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts")


@dataclass
class Site:
    daemon: rig.Daemon
    place: Path
    alice: rig.Account
    bob: rig.Account

    def add(self, folder: Path, name: str, user: str = "", **more: Any) -> Any:
        return self.daemon.cli(
            user or self.alice.name, "data", "add", str(folder), "--name", name, **more
        )

    def failure(self, folder: Path, name: str) -> str:
        done = self.add(folder, name, check=False)
        assert done.returncode == 1, done
        assert not (self.place / name).exists()
        assert not list((self.place / ".roost" / "incoming").iterdir())
        return done.stderr


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    place = Path(tempfile.mkdtemp(prefix="roost-data-"))
    place.chmod(0o755)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m,mode=755", "tmpfs", place], check=True)
    rules = f'[data]\npath = "{place}"\n'
    try:
        with (
            rig.accounts("alice", "bob", prefix="rda-") as (alice, bob),
            rig.daemon("--simulate", "1xA100", rules=rules) as running,
        ):
            yield Site(running, place, alice, bob)
    finally:
        subprocess.run(["umount", "-l", place], check=False)
        shutil.rmtree(place, ignore_errors=True)


def own(account: rig.Account, name: str, files: dict[str | bytes, bytes]) -> Path:
    """A private folder of that person's."""
    top = account.home / name
    shutil.rmtree(top, ignore_errors=True)
    for path, content in files.items():
        file = os.path.join(os.fsencode(top), os.fsencode(path))
        os.makedirs(os.path.dirname(file), exist_ok=True)
        Path(os.fsdecode(file)).write_bytes(content)
    subprocess.run(["chown", "-R", f"{account.uid}:{account.gid}", top], check=True)
    top.chmod(0o700)
    return top


def blocks(folder: Path) -> int:
    return sum(os.lstat(os.path.join(d, n)).st_blocks for d, ds, fs in os.walk(folder)
               for n in (*ds, *fs)) * 512  # fmt: skip


def test_what_one_adds_another_uses_without_disk_and_nobody_can_change(site: Site) -> None:
    content = os.urandom(3 << 20)
    names: dict[str | bytes, bytes] = {
        "train/a.bin": content, b"train/\xff\xfe odd\nname": b"x", "empty": b"",
    }  # fmt: skip
    top = own(site.alice, "set", names)
    (top / "again").symlink_to("train/a.bin")
    site.add(top, "imagenet")
    place = site.place / "imagenet"
    row = site.daemon.json(site.bob.name, "data", "show", "imagenet")
    assert (row["owner"], row["state"], row["files"]) == (site.alice.name, "ready", 3)
    assert row["bytes"] == len(content) + 1
    assert row["pickled"] == 1
    manifest = Path(row["manifest"]).read_bytes()
    assert hashlib.sha256(manifest).hexdigest() == row["sha256"]
    assert hashlib.sha256(content).hexdigest().encode() in manifest

    before = blocks(site.bob.home)
    site.daemon.cli(site.bob.name, "data", "link", "imagenet")
    seen = site.bob.home / "imagenet" / "train" / "a.bin"
    read = ["sha256sum", str(seen)]
    done = subprocess.run(read, user=site.bob.uid, group=site.bob.gid, capture_output=True)
    assert done.stdout.split()[0].decode() == hashlib.sha256(content).hexdigest()
    assert blocks(site.bob.home) - before <= 4096
    assert site.daemon.json(site.bob.name, "data", "verify", "imagenet")["good"] is True

    for account in (site.alice, site.bob):
        for attempt in (f"echo x >> {place}/train/a.bin", f"rm {place}/empty", f"touch {place}/y"):
            tried = subprocess.run(
                ["sh", "-c", attempt], user=account.uid, group=account.gid, extra_groups=[],
                capture_output=True,
            )  # fmt: skip
            assert tried.returncode != 0, attempt

    # One byte that is another one, put there by root: found.
    with open(place / "train" / "a.bin", "r+b") as file:
        file.write(bytes([content[0] ^ 1]))
    wrong = site.daemon.cli(site.bob.name, "data", "verify", "imagenet", check=False)
    assert wrong.returncode == 1
    assert "train/a.bin" in wrong.stdout


def test_a_set_goes_by_its_owner_alone_and_not_while_it_is_used(site: Site) -> None:
    top = own(site.alice, "mine", {"w.safetensors": b"w" * 1000})
    site.add(top, "mine")
    other = site.daemon.cli(site.bob.name, "data", "remove", "mine", "-y", check=False)
    assert other.returncode == 4
    holder = subprocess.Popen(
        ["sleep", "60"], stdin=open(site.place / "mine" / "w.safetensors", "rb"),  # noqa: SIM115
        user=site.bob.uid, group=site.bob.gid,
    )  # fmt: skip
    try:
        used = site.daemon.cli(site.alice.name, "data", "remove", "mine", "-y", check=False)
        assert used.returncode == 1
        assert str(holder.pid) in used.stderr
    finally:
        holder.kill()
        holder.wait()
    site.daemon.cli(site.alice.name, "data", "remove", "mine", "-y")
    listed = site.daemon.json(site.bob.name, "data", "list")["data"]
    assert "mine" not in [one["name"] for one in listed]
    kept = [e for e in (site.place / ".roost" / "removed").iterdir() if e.name.startswith("mine@")]
    assert (kept[0] / "tree" / "w.safetensors").read_bytes() == b"w" * 1000
    actions = [one["action"] for one in site.daemon.json("root", "audit", "log")["audit"]]
    assert {"data_add", "data_remove"} <= set(actions)


def test_nothing_is_read_but_with_the_persons_own_rights(site: Site) -> None:
    secret = own(site.bob, "secret", {"key": b"bob's"})
    assert "Permission denied" in site.failure(secret, "stolen")
    assert "Permission denied" in site.failure(Path("/etc/shadow"), "shadow")
    top = own(site.alice, "links", {"a": b"a"})
    (top / "out").symlink_to("/etc/shadow")
    assert "leads out of it" in site.failure(top, "links")
    (top / "out").unlink()
    os.mkfifo(top / "pipe")
    assert "neither a file" in site.failure(top, "pipe")
    for name in ("../x", ".roost", "a/b"):
        done = site.add(top, name, check=False)
        assert done.returncode in (1, 2), done
        assert "cannot be a data set's name" in done.stderr


def test_a_link_put_in_the_place_of_a_file_while_it_is_read_leads_nowhere(site: Site) -> None:
    files: dict[str | bytes, bytes] = {f"d/{n:03}": b"own" for n in range(150)}
    top = own(site.alice, "race", files)
    target, over = top / "d" / "100", threading.Event()

    def swap() -> None:
        while not over.is_set():
            for make in (lambda p: p.symlink_to("/etc/shadow"), lambda p: p.write_bytes(b"own")):
                fresh = top / "d" / ".new"
                make(fresh)
                os.lchown(fresh, site.alice.uid, site.alice.gid)
                os.replace(fresh, target)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for turn in range(3):
            site.add(top, f"race{turn}", check=False)
    finally:
        over.set()
        swapper.join()
    shadow = Path("/etc/shadow").read_bytes()
    for file in site.place.glob("race*/d/*"):
        assert not file.is_symlink()
        assert file.read_bytes() == b"own" != shadow


def test_a_file_that_changes_meanwhile_and_a_full_disk_leave_nothing(site: Site) -> None:
    top = own(site.alice, "growing", {"log": b"x" * (4 << 20)})
    over = threading.Event()

    def grow() -> None:
        with open(top / "log", "r+b") as file:
            while not over.is_set():
                file.seek(0)
                file.write(b"y")
                file.flush()

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        assert "changed while it was read" in site.failure(top, "growing")
    finally:
        over.set()
        writer.join()
    large = own(site.alice, "large", {"a": b"a"})
    with open(large / "a", "wb") as file:
        file.truncate(200 << 20)
    free = os.statvfs(site.place).f_bavail
    assert "not enough room" in site.failure(large, "large")
    assert os.statvfs(site.place).f_bavail == free
