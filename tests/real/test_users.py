"""Accounts as root, on a real machine: made, disabled, removed, brought back; and what is refused.

One daemon for all; accounts begin with `rus-` and are gone at the end.
"""

from __future__ import annotations

import base64
import csv
import grp
import io
import json
import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.real import rig
from tests.real.web_rig import Browser, free_port, set_password

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: makes and removes accounts")
PREFIX = "rus-"
RULES = """
operators = ["rus-op"]
[groups.lab]
members = ["@rus-lab"]
share = 2
[groups.byname]
members = ["rus-none"]
[groups.rooted]
members = ["@sudo"]
"""


def key(text: str) -> str:
    """A well-formed key of nobody's."""
    blob = b"".join(
        len(part).to_bytes(4, "big") + part
        for part in (b"ssh-ed25519", text.encode().ljust(32, b"x")[:32])
    )
    return f"ssh-ed25519 {base64.b64encode(blob).decode()} {text}@example"


def sheet(folder: Path, rows: list[dict[str, str]], heads: dict[str, str] | None = None) -> Path:
    names = heads or {k: k for k in ("name", "full name", "group", "key", "share")}
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names.values())
    writer.writerows([row.get(field, "") for field in names] for row in rows)
    path = folder / "people.csv"
    path.write_text(text.getvalue())
    path.chmod(0o644)
    return path


def team(count: int) -> list[dict[str, str]]:
    return [
        {
            "name": f"{PREFIX}u{n:02}", "full name": f"王 {n}", "group": "lab",
            "key": key(f"u{n}"), "share": "2",
        }
        for n in range(1, count + 1)
    ]  # fmt: skip


def accounts() -> list[str]:
    return [e.pw_name for e in pwd.getpwall() if e.pw_name.startswith(PREFIX)]


def machine() -> dict[str, Any]:
    """All that the machine has of ours: lines of its files, homes, keys."""
    found: dict[str, Any] = {}
    for path in ("/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow", "/etc/subuid"):
        lines = Path(path).read_text().splitlines()
        found[path] = [line for line in lines if PREFIX in line]
    for home in sorted(Path("/home").glob(f"{PREFIX}*")):
        status = home.lstat()
        found[str(home)] = (stat.filemode(status.st_mode), status.st_uid, sorted(os.listdir(home)))
        keys = home / ".ssh/authorized_keys"
        if keys.exists():
            modes = [oct(stat.S_IMODE(p.lstat().st_mode)) for p in (keys.parent, keys)]
            found[str(keys)] = (keys.read_text(), keys.lstat().st_uid, modes)
    return found


def clear() -> None:
    for name in accounts():
        entry = pwd.getpwnam(name)
        rig.end_processes_of(entry.pw_uid)
        subprocess.run(["userdel", "-r", "-f", name], check=False, capture_output=True)
    for home in Path("/home").glob(f"{PREFIX}*"):
        if home.is_symlink():
            home.unlink()
        else:
            shutil.rmtree(home, ignore_errors=True)
    for group in [g.gr_name for g in grp.getgrall() if g.gr_name.startswith(PREFIX)]:
        subprocess.run(["groupdel", group], check=False, capture_output=True)


@pytest.fixture(scope="module")
def daemon() -> Iterator[rig.Daemon]:
    clear()
    port = free_port()
    try:
        with rig.daemon("--simulate", "4xA100", "--http", f"127.0.0.1:{port}", rules=RULES) as made:
            made.environment = {"PORT": str(port)}
            yield made
    finally:
        clear()


@pytest.fixture(autouse=True)
def clean(daemon: rig.Daemon) -> Iterator[None]:
    yield
    for job in daemon.json("root", "jobs")["jobs"]:
        daemon.cli("root", "cancel", str(job["job"]), check=False)
    clear()
    # What is remembered of them goes too: the next test's accounts may get the same uids.
    for folder in ("accounts", "archive"):
        for path in (daemon.state / "agent" / folder).glob("rus-*"):
            path.unlink()


def roost(daemon: rig.Daemon, *words: str, code: int = 0) -> Any:
    """`roost user WORDS --yes --json` by root."""
    done = daemon.cli("root", "user", *words, "--yes", "--json", check=False)
    assert done.returncode == code, (words, done.stdout, done.stderr)
    return json.loads(done.stdout) if done.stdout else done.stderr


def kinds(answer: Any) -> list[str]:
    return [step["step"] for step in answer["plan"]["steps"]]


def test_thirty_people_come_and_go_twice_over(daemon: rig.Daemon, tmp_path: Path) -> None:
    before, people = machine(), team(30)
    names = [row["name"] for row in people]
    path = str(sheet(tmp_path, people))
    shown = daemon.cli("root", "user", "import", path, "--dry-run").stdout
    assert "create the account rus-u17, home /home/rus-u17 (0700) “王 17”" in shown
    assert machine() == before
    first = roost(daemon, "import", path)
    assert first["done"]
    assert kinds(first).count("create") == 30
    state = machine()
    assert roost(daemon, "import", path)["plan"]["steps"] == []
    assert machine() == state
    for row in people:
        entry = pwd.getpwnam(row["name"])
        assert (entry.pw_gecos, entry.pw_dir) == (row["full name"], f"/home/{row['name']}")
        mode, uid, _ = state[entry.pw_dir]
        assert (mode, uid) == ("drwx------", entry.pw_uid)
        text, uid, modes = state[f"{entry.pw_dir}/.ssh/authorized_keys"]
        assert (text, uid, modes) == (row["key"] + "\n", entry.pw_uid, ["0o700", "0o600"])
    assert set(grp.getgrnam("rus-lab").gr_mem) == set(names)
    listed = daemon.json("root", "user", "list")["accounts"]
    assert all(one["charges"] == ["lab"] for one in listed if one["user"] in names)
    # -- disabled, twice, and enabled again as they were
    roost(daemon, "disable", *names)
    off = machine()
    assert all(line.split(":")[7] == "1" for line in off["/etc/shadow"])
    assert roost(daemon, "disable", *names)["plan"]["steps"] == []
    assert machine() == off
    roost(daemon, "enable", *names)
    assert machine() == state
    assert roost(daemon, "enable", *names)["plan"]["steps"] == []
    # -- removed, twice
    gone = roost(daemon, "remove", *names)
    assert gone["done"], gone
    left = machine()
    assert [line for line in left["/etc/passwd"] if line] == []
    assert left["/etc/group"] == [line for line in left["/etc/group"] if "rus-lab" in line]
    assert list(Path("/home").glob("rus-u*")) == []
    assert roost(daemon, "remove", *names)["plan"]["steps"] == []
    assert machine() == left
    archives = daemon.json("root", "user", "list")["archives"]
    assert {one["user"] for one in archives} >= set(names)
    told = json.dumps(daemon.json("root", "audit", "log", "-n", "1000"))
    assert "account create" in told
    assert "account remove" in told


def test_an_error_in_row_17_changes_nothing_and_is_named(
    daemon: rig.Daemon, tmp_path: Path
) -> None:
    people = team(30)
    people[15]["key"] = people[15]["key"][:40]  # row 17 of the file: the head is row 1
    before = machine()
    heads = {"name": "账号", "full name": "姓名", "group": "所属组", "key": "SSH公钥"}
    path = sheet(tmp_path, people, heads)
    done = daemon.cli("root", "user", "import", str(path), "--yes", check=False)
    assert done.returncode == 1
    assert "row 17, column SSH公钥, “ssh-ed25519 AAAAC3" in done.stdout
    assert "copy the whole line of the .pub file" in done.stdout
    assert machine() == before
    chinese = {"LC_ALL": "zh_CN.UTF-8"}
    done = daemon.cli(
        "root", "user", "import", str(path), "--yes", check=False, environment=chinese
    )
    assert "第 17 行，SSH公钥 列" in done.stdout
    assert "请复制 .pub 文件的整行" in done.stdout


@pytest.mark.parametrize(
    "name", ["root", "-x", "../x", "rus-a b", "rus-$(id)", "rus-a:0:0", "Rus-A", "rus-" + "a" * 40,
             "rus-é", "rus-a\n0", "roost", ".rus", "daemon"],
)  # fmt: skip
def test_names_that_no_person_has_are_refused(daemon: rig.Daemon, name: str) -> None:
    client, before = rig_client(daemon), machine()
    plan = client.plan_accounts({"action": "add", "people": [{"name": name, "group": "lab"}]})
    assert plan["steps"] == []
    assert [one["column"] for one in plan["problems"]] == ["name"]
    for action in ("disable", "remove"):
        plan = client.plan_accounts({"action": action, "people": [{"name": name}]})
        assert plan["steps"] == []
        assert plan["problems"]
    assert machine() == before


def rig_client(daemon: rig.Daemon) -> Any:
    from roost.client.api import Client

    return Client(str(daemon.socket))


def test_keys_and_groups_that_would_give_more_are_refused(daemon: rig.Daemon) -> None:
    client, good = rig_client(daemon), key("a")
    wrong: list[dict[str, Any]] = [
        {"keys": [f"{good}\n{key('b')}"]},
        {"keys": [f'command="id" {good}']},
        {"keys": [f"from=* {good}"]},
        {"keys": [f"{good}\rssh-ed25519"]},
        {"keys": ["-----BEGIN OPENSSH PRIVATE KEY-----"]},
        {"keys": [good.replace("ssh-ed25519", "ssh-rsa")]},
        {"group": "rooted"},
        {"group": "byname"},
        {"group": "nowhere"},
        {"group": "lab", "share": "3"},
        {"full_name": "a:0:0::/root:/bin/sh"},
        {"quota": "10G"},
    ]
    for more in wrong:
        body = {"action": "add", "people": [{"name": "rus-x", **more}]}
        plan = client.plan_accounts(body)
        assert plan["steps"] == [], more
        assert plan["problems"], more
    told = plan["problems"][0]["text"]
    assert "quota" in told  # this machine's /home keeps none, and it is said before anything
    assert accounts() == []


def test_a_link_in_the_way_of_a_key_or_a_home_is_not_followed(
    daemon: rig.Daemon, tmp_path: Path
) -> None:
    target = tmp_path / "root-only"
    target.mkdir()
    roost(daemon, "add", "rus-eve")
    eve = pwd.getpwnam("rus-eve")
    one = tmp_path / "key.pub"
    one.write_text(key("eve") + "\n")
    for name in (".ssh", ".ssh/authorized_keys"):
        link = Path(eve.pw_dir) / name
        link.parent.mkdir(exist_ok=True)
        os.chown(link.parent, eve.pw_uid, eve.pw_gid)
        link.symlink_to(target if name == ".ssh" else "/etc/passwd")
        os.lchown(link, eve.pw_uid, eve.pw_gid)
        plain = machine()
        refused = roost(daemon, "add", "rus-eve", "--ssh-key", str(one), code=1)
        assert refused["plan"]["problems"][0]["code"] == "keys_link"
        assert machine() == plain
        link.unlink()
    assert list(target.iterdir()) == []
    # The link may also come between the plan and the step: then the step refuses it.
    shutil.rmtree(Path(eve.pw_dir) / ".ssh")
    client = rig_client(daemon)
    wanted = {"action": "add", "people": [{"name": "rus-eve", "keys": [key("eve")]}]}
    plan = client.plan_accounts(wanted)
    (Path(eve.pw_dir) / ".ssh").symlink_to(target)
    with pytest.raises(Exception, match="nothing was done"):
        client.change_accounts(wanted, plan["plan"])
    # A home that is a link is not packed, deleted or written into.
    (Path(eve.pw_dir) / ".ssh").unlink()
    moved = tmp_path / "home"
    os.rename(eve.pw_dir, moved)
    Path(eve.pw_dir).symlink_to(moved)
    refused = roost(daemon, "remove", "rus-eve", code=1)
    assert refused["plan"]["problems"][0]["code"] == "remove_link"
    refused = roost(daemon, "add", "rus-eve", "--ssh-key", str(one), code=1)
    assert refused["plan"]["problems"][0]["code"] == "keys_home"
    assert moved.is_dir()


def test_what_is_removed_lies_in_an_archive_of_roots_and_comes_back(
    daemon: rig.Daemon, tmp_path: Path
) -> None:
    one = tmp_path / "key.pub"
    one.write_text(key("mei") + "\n")
    roost(daemon, "add", "rus-mei", "--group", "lab", "--full-name", "美", "--ssh-key", str(one))
    set_password("rus-mei", "paper-Boat 7")
    home, mei = Path("/home/rus-mei"), pwd.getpwnam("rus-mei")
    as_mei: dict[str, Any] = {"user": mei.pw_uid, "group": mei.pw_gid, "cwd": home, "check": True}
    script = (
        "mkdir -p a/b && echo 论文 >a/b/thesis && ln a/b/thesis hard && ln -s /etc/shadow link"
        " && mkfifo pipe && mkdir locked && echo x >locked/f && chmod 500 locked"
    )
    subprocess.run(["bash", "-c", script], **as_mei)
    state = machine()
    sleeper = subprocess.Popen(["sleep", "100"], user=mei.pw_uid, group=mei.pw_gid)
    refused = roost(daemon, "remove", "rus-mei", code=1)
    assert f"{sleeper.pid} sleep" in refused["plan"]["problems"][0]["text"]
    sleeper.kill()
    sleeper.wait()
    gone = roost(daemon, "remove", "rus-mei")
    assert gone["done"], gone
    assert not home.exists()
    archive = daemon.json("root", "user", "show", "rus-mei")["archives"][0]
    path = Path(archive["path"])
    for each in (path, Path(f"{path}.json"), path.parent, path.parent.parent):
        status = each.stat()
        assert (status.st_uid, status.st_mode & 0o077) == (0, 0), each
    refused_read = subprocess.run(
        ["cat", str(path)], user=65534, group=65534, capture_output=True, check=False
    )
    assert refused_read.returncode != 0
    back = roost(daemon, "restore", "rus-mei")
    assert back["done"], back
    now = machine()
    names = sorted(set(state["/home/rus-mei"][2]) - {"pipe"})
    assert now["/home/rus-mei"] == (*state["/home/rus-mei"][:2], names)
    for path_of in ("/etc/passwd", "/etc/group", "/etc/shadow"):
        assert now[path_of] == state[path_of]
    assert (home / "hard").stat().st_nlink == 2
    assert (home / "a/b/thesis").read_text() == "论文\n"
    assert os.readlink(home / "link") == "/etc/shadow"
    assert stat.S_IMODE((home / "locked").stat().st_mode) == 0o500
    assert (home / "locked/f").stat().st_uid == mei.pw_uid
    # A damaged archive brings nothing back.
    roost(daemon, "remove", "rus-mei")
    newest = daemon.json("root", "user", "show", "rus-mei")["archives"][0]["path"]
    with open(newest, "r+b") as file:
        file.seek(20)
        file.write(b"\0\0\0\0")
    failed = roost(daemon, "restore", "rus-mei", code=1)
    assert "checksum" in failed["steps"][0]["why"]
    assert accounts() == []


def test_who_is_disabled_is_out_at_once_and_back_as_before(daemon: rig.Daemon) -> None:
    port = int(daemon.environment["PORT"])
    roost(daemon, "add", "rus-max", "--group", "lab")
    set_password("rus-max", "paper-Boat 7")
    browser = Browser(port)
    assert browser.sign_in("rus-max", "paper-Boat 7").status == 200
    made = daemon.cli("rus-max", "token", "create").stdout.strip()
    by_token = Browser(port, headers={"Authorization": f"Bearer {made}"})
    assert by_token.ask("GET", "/v1/status").status == 200
    running = daemon.run("rus-max", "--", "sleep", "600")
    daemon.wait_state(running, "RUNNING")
    waiting = daemon.run("rus-max", "--begin", "+5h", "--", "true")
    own_hold = daemon.run("rus-max", "--hold", "--", "true")
    shadow = machine()["/etc/shadow"]
    done = roost(daemon, "disable", "rus-max")
    assert kinds(done) == ["disable", "put_out", "hold"]
    assert browser.ask("GET", "/v1/status").status == 401
    assert by_token.ask("GET", "/v1/status").status == 401
    refused = daemon.cli("rus-max", "run", "--", "true", check=False)
    assert (refused.returncode, "is disabled" in refused.stderr) == (4, True)
    assert Browser(port).sign_in("rus-max", "paper-Boat 7").status == 401
    assert daemon.job(running)["state"] == "RUNNING"
    assert daemon.json("root", "why", str(waiting))["reasons"][0]["code"] == "held"
    # The server learns it again after a restart.
    assert daemon.kill("server")
    daemon.wait_ready()
    rig.wait_for(
        lambda: daemon.cli("rus-max", "status", check=False).returncode == 4, "still disabled"
    )
    back = roost(daemon, "enable", "rus-max")
    assert kinds(back) == ["enable", "release"]
    assert machine()["/etc/shadow"] == shadow
    assert str(waiting) in back["plan"]["steps"][1]["text"]
    assert str(own_hold) not in back["plan"]["steps"][1]["text"].partition(":")[2].split(", ")
    assert daemon.json("rus-max", "why", str(waiting))["reasons"][0]["code"] != "held"
    assert daemon.json("rus-max", "why", str(own_hold))["reasons"][0]["code"] == "held"
    refused = roost(daemon, "remove", "rus-max", code=1)
    assert refused["plan"]["problems"][0]["code"] == "has_jobs"
    gone = roost(daemon, "remove", "rus-max", "--end-jobs")
    assert gone["done"], gone
    assert daemon.job(running)["state"] == "CANCELLED"


@contextmanager
def full(folder: Path, uid: int) -> Iterator[None]:
    """A file system without room in the place of that folder."""
    folder.mkdir(exist_ok=True)
    os.chown(folder, uid, -1)  # what is there when the mount has gone is theirs too
    options = f"size=64k,uid={uid},mode=0700"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
    try:
        with suppress(OSError), (folder / "fill").open("wb") as file:
            file.write(b"x" * (1 << 20))
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_what_fails_in_the_middle_is_told_and_the_same_command_finishes(
    daemon: rig.Daemon, tmp_path: Path
) -> None:
    roost(daemon, "add", "rus-u02", "--group", "lab")
    uid = pwd.getpwnam("rus-u02").pw_uid
    path = str(sheet(tmp_path, team(3)))
    with full(Path("/home/rus-u02/.ssh"), uid):
        failed = roost(daemon, "import", path, code=1)
    outcomes = [(s["user"], s["step"], s["outcome"]) for s in failed["steps"]]
    assert ("rus-u01", "key", "done") in outcomes
    assert ("rus-u02", "key", "failed") in outcomes
    assert ("rus-u03", "create", "not_done") in outcomes
    why = next(s["why"] for s in failed["steps"] if s["outcome"] == "failed")
    assert "No space left" in why
    assert "rus-u03" not in accounts()
    assert roost(daemon, "import", path)["done"]
    assert roost(daemon, "import", path)["plan"]["steps"] == []
    assert sorted(grp.getgrnam("rus-lab").gr_mem) == ["rus-u01", "rus-u02", "rus-u03"]


def test_only_operators_see_and_change_accounts(daemon: rig.Daemon) -> None:
    roost(daemon, "add", "rus-mem", "--group", "lab")
    for words in (("list",), ("add", "rus-new", "--yes"), ("disable", "rus-mem", "--yes")):
        refused = daemon.cli("rus-mem", "user", *words, check=False)
        assert refused.returncode == 4, words
    assert accounts() == ["rus-mem"]
    roost(daemon, "add", "rus-op")
    done = daemon.cli("rus-op", "user", "add", "rus-new", "--yes")
    assert "Done: 1 steps." in done.stdout
    shown = daemon.cli("rus-op", "user", "show", "rus-new").stdout
    assert "/home/rus-new 0700" in shown
