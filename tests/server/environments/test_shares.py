"""Shared environments on the disk: content by hash, and nothing that leads out of its folder."""

from __future__ import annotations

import hashlib
import os
import random
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from roost.server.environments.manifest import ManifestError, read
from roost.server.environments.pool import Pool, PoolError
from roost.server.environments.shares import Shares, SharesError

PYTHON = os.path.realpath("/usr/bin/python3")


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def frame(data: bytes, executable: bool = False, named: str = "") -> bytes:
    key = bytes.fromhex(named or sha(data))
    return key + bytes([executable]) + len(data).to_bytes(8, "big") + data


def manifest(**more: Any) -> bytes:
    made: dict[str, Any] = {
        "version": 1, "kind": "venv", "python": "3.11.2", "interpreter": PYTHON,
        "folders": ["bin", "lib", "lib/a"], "files": [["lib/a/x.py", sha(b"x = 1\n"), 6, False]],
        "links": [["bin/python", PYTHON], ["lib64", "lib"], ["lib/a/y.py", "x.py"]],
    }  # fmt: skip
    return msgspec.json.encode(made | more)


def sent(pool: Pool, *bodies: bytes, chance: int = 0) -> int:
    """Uploads the bodies in pieces of any size."""
    upload = pool.upload(1 << 30)
    data = b"".join(bodies)
    pieces = random.Random(chance)
    try:
        at = 0
        while at < len(data):
            step = pieces.randint(1, 97)
            upload.feed(data[at : at + step])
            at += step
        upload.finish()
    finally:
        upload.close()
    return upload.added


@pytest.mark.parametrize("chance", range(20))
def test_files_come_whole_whatever_the_pieces(tmp_path: Path, chance: int):
    pool = Pool(str(tmp_path / "objects"))
    random_ = random.Random(chance)
    files = [random_.randbytes(random_.choice([0, 1, 40, 41, 42, 500])) for _ in range(20)]
    assert sent(pool, *(frame(f, n % 2 == 0) for n, f in enumerate(files)), chance=chance) == 20
    for n, data in enumerate(files):
        path = Path(pool.path(sha(data), n % 2 == 0))
        assert path.read_bytes() == data
        assert path.stat().st_mode & 0o777 == (0o555 if n % 2 == 0 else 0o444)
    assert pool.missing([(sha(b"other"), False), (sha(files[1]), False)]) == [
        (sha(b"other"), False)
    ]


@pytest.mark.parametrize(
    "body",
    [
        frame(b"evil", named=sha(b"good")),
        frame(b"cut")[:-1],
        b"\1" * 20,
        bytes(32) + b"\2" + bytes(8),
        bytes(32) + b"\0" + (2**63).to_bytes(8, "big"),
    ],
)
def test_what_is_not_what_it_says_leaves_nothing(tmp_path: Path, body: bytes):
    pool = Pool(str(tmp_path / "objects"))
    with pytest.raises(PoolError):
        sent(pool, body)
    assert [f for f in (tmp_path / "objects").rglob("*") if f.is_file()] == []


def test_more_than_may_come_is_refused(tmp_path: Path):
    upload = Pool(str(tmp_path / "objects")).upload(50)
    with pytest.raises(PoolError):
        upload.feed(frame(b"x" * 60))
    upload.close()


@pytest.mark.parametrize(
    "more",
    [
        {"files": [["../x", "0" * 64, 1, False]]},
        {"files": [["/etc/cron.d/x", "0" * 64, 1, False]]},
        {"files": [["lib/../../x", "0" * 64, 1, False]]},
        {"files": [["lib//x", "0" * 64, 1, False]]},
        {"files": [["lib/./x", "0" * 64, 1, False]]},
        {"files": [["none/x", "0" * 64, 1, False]]},
        {"files": [["lib64/x", "0" * 64, 1, False]]},
        {"files": [["lib/x\0", "0" * 64, 1, False]]},
        {"files": [["lib/x", "../" * 16 + "etc/shadow" + "0" * 6, 1, False]]},
        {"files": [["lib/x", "0" * 64, -1, False]]},
        {"files": [["lib/x", "0" * 64, 1, False], ["lib/x", "0" * 64, 1, False]]},
        {"files": [["lib", "0" * 64, 1, False]]},
        {"files": [["lib/" + "x" * 256, "0" * 64, 1, False]]},
        {"folders": ["a/b", "a"]},
        {"folders": [".."]},
        {"folders": ["bin", "lib", "lib/a", "lib/a"]},
        {"links": []},
        {"links": [["bin/python", "/bin/sh"]]},
        {"links": [["bin/python", PYTHON], ["x", "/etc/shadow"]]},
        {"links": [["bin/python", PYTHON], ["x", "../x"]]},
        {"links": [["bin/python", PYTHON], ["lib/a/z", "../../../x"]]},
        {"links": [["bin/python", PYTHON], ["lib/a/z", "b/../../.."]]},
        {"links": [["bin/python", PYTHON], ["d", "."], ["e", "d/../x"]]},
        {"links": [["bin/python", PYTHON], ["lib/a/z", ""]]},
        {"interpreter": "python", "links": [["bin/python", "python"]]},
        {"kind": "conda"},
        {"version": 2},
        {"python": "3" * 100},
    ],
)
def test_a_list_that_leads_elsewhere_is_refused(more: dict[str, Any]):
    with pytest.raises(ManifestError):
        read(manifest(**more))


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"[" * 100_000, b"\xff", b'{"version":1}'])
def test_what_is_no_list_is_refused(data: bytes):
    with pytest.raises(ManifestError):
        read(data)


def shared(shares: Shares, name: str = "ml", owner: str = "ann", uid: int = 5, **more: Any) -> Any:
    data = manifest(**more)
    sent(shares.pool, frame(b"x = 1\n"))
    return shares.share(owner, uid, name, sha(data), read(data), 1000)


def test_a_version_is_made_of_links_that_nobody_may_write(tmp_path: Path):
    shares = Shares(str(tmp_path / "e"))
    one = shared(shares)
    path = Path(shares.version_path(one.digest))
    assert (path / "lib64/a/y.py").read_text() == "x = 1\n"
    inside = path / "lib/a/x.py"
    assert inside.stat().st_ino == os.stat(shares.pool.path(sha(b"x = 1\n"), False)).st_ino
    assert [p for p in (path, path / "lib", inside) if p.stat().st_mode & 0o222] == []
    assert msgspec.json.decode((path / "roost-env.json").read_bytes())["owner"] == "ann"
    two = shared(shares, "same", "ben", 6)
    assert two.digest == one.digest
    assert [(s.owner, s.name) for s in shares.all()] == [("ann", "ml"), ("ben", "same")]


def test_a_file_that_was_not_sent_or_a_loose_python_makes_no_version(tmp_path: Path):
    shares = Shares(str(tmp_path / "e"))
    files = [["lib/a/x.py", sha(b"other"), 5, False]]
    with pytest.raises(SharesError, match="missing_file"):
        shared(shares, files=files)
    loose = tmp_path / "python"
    loose.write_text("#!/bin/sh\n")
    loose.chmod(0o755)
    with pytest.raises(SharesError, match="interpreter"):
        shared(shares, interpreter=str(loose), links=[["bin/python", str(loose)]])
    assert list(tmp_path.glob("e/versions/*")) == []
    assert shares.all() == []


def test_one_person_shares_up_to_the_limit(tmp_path: Path):
    shares = Shares(str(tmp_path / "e"))
    big = b"b" * 600
    sent(shares.pool, frame(big))
    files = [["lib/a/b", sha(big), 600, False]]
    links = [["bin/python", PYTHON]]
    shared(shares, "one", files=files, links=links)
    shared(shares, "one", files=files, links=links)
    with pytest.raises(SharesError, match="share_limit"):
        shared(shares, "two", files=files, links=links)
    shared(shares, "two", owner="ben", uid=6, files=files, links=links)


def test_a_version_goes_a_week_after_its_last_name_and_clone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    shares = Shares(str(tmp_path / "e"))
    one = shared(shares)
    version = shares.version_path(one.digest)
    shares.hold(one, 7, "mine")
    shares.remove("ann", "ml")
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 8 * 86400)
    assert not shares.let_go(7, "another")
    assert os.path.isdir(version)
    assert shares.let_go(7, "mine")
    assert os.path.isdir(version)  # it was in use a moment ago: the week counts from now
    monkeypatch.setattr("time.time", lambda: now + 16 * 86400)
    shares.let_go(7, "mine")
    assert not os.path.isdir(version)
    assert [f for f in (tmp_path / "e/objects").rglob("*") if f.is_file()] == []
    with pytest.raises(SharesError):
        shares.remove("ann", "ml")
    with pytest.raises(SharesError):
        shares.hold(one, 7, "mine")


@pytest.mark.parametrize("name", ["../../../etc/passwd", "", "a/b", ".x"])
def test_a_record_is_looked_for_by_names_alone(tmp_path: Path, name: str):
    shares = Shares(str(tmp_path / "e"))
    assert shares.find(name, "ml") is None
    assert shares.find("ann", name) is None
