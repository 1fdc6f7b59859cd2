"""Exit codes, errors and the JSON of each command: the contract of the command line."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from roost.cli.commands import COMMANDS, GROUPS
from roost.cli.shapes import SHAPES
from tests.cli.conftest import Roost
from tests.cli.stub import RULES, Stub, history, job, past


def test_no_daemon_is_exit_code_3_and_says_how_to_start_one(roost: Roost, tmp_path: Path):
    done = roost("status")
    assert done.returncode == 3
    assert done.stderr == (
        f"roost status: no Roost daemon at {tmp_path}/r.sock; start it with “roost serve”,"
        " or name another with --socket\n"
    )


def test_a_wrong_word_is_exit_code_2(roost: Roost):
    done = roost("jobs", "--stat", "RUNNING")
    assert done.returncode == 2
    assert done.stderr.split("\n")[:2] == [
        "roost jobs: there is no option --stat",
        "Did you mean --state?",
    ]


def test_what_one_may_not_do_is_exit_code_4(stub: Stub, roost: Roost):
    stub.answers["POST /v1/gpus/0/drain"] = (
        403,
        {"type": "/problems/operators_only", "detail": "only operators may do this"},
    )
    done = roost("drain", "0")
    assert (done.returncode, done.stderr) == (4, "roost drain: only operators may do this\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="root gives the socket to nobody else")
def test_a_socket_that_may_not_be_opened_is_exit_code_4(stub: Stub, tmp_path: Path):
    os.chmod(stub.path, 0o600)
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        os.chmod(folder, 0o755)
    code = (
        "import os; os.setgroups([]); os.setgid(65534); os.setuid(65534);"
        f"from roost.cli.main import call; os._exit(call(['--socket', {stub.path!r}, 'ping-free']))"
    ).replace("ping-free", "status")
    env = {**os.environ, "LC_ALL": "C.UTF-8", "PYTHONPATH": os.pathsep.join(sys.path[1:])}
    preload = "import roost.cli.status, roost.cli.failure, roost.core.text.cli_errors;"
    done = subprocess.run(
        [sys.executable, "-c", preload + code], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 4, done.stderr
    assert "no right to open" in done.stderr


def test_the_chosen_language_reaches_the_daemon(stub: Stub, roost: Roost):
    roost("status", environment={"LANG": "zh_CN.UTF-8"})
    assert stub.seen[-1][3]["accept-language"] == "zh"
    done = roost("nichts", environment={"LC_ALL": "zh_CN.UTF-8"})
    assert done.stderr.startswith("roost: 没有命令 nichts")


def test_a_c_locale_gets_ascii_and_never_a_crash(stub: Stub, roost: Roost):
    for environment in ({"LC_ALL": "C"}, {"LC_ALL": "POSIX"}, {"LC_ALL": "zh_CN"}):
        done = roost("status", environment=environment)
        assert done.returncode == 0
        assert done.stdout.isascii(), done.stdout
        assert "62C" in done.stdout
    assert roost("status", bare=True).stdout.isascii()


def test_json_is_the_daemons_answer_in_ascii(stub: Stub, roost: Roost):
    done = roost("status", "--json")
    assert done.stdout.isascii()
    assert json.loads(done.stdout) == stub.answers["GET /v1/status"][1]


SACCT = Path(__file__).parents[1] / "data" / "traces" / "small_sacct.txt"
EXPORTED = Path(tempfile.gettempdir()) / f"roost-export-{os.getpid()}.csv"
SHEET = Path(__file__).parents[1] / "data" / "sheets" / "1-list.csv"
TOKEN: dict[str, Any] = {
    "token": "ab12", "user": "alice", "name": "ci", "scopes": ["read"], "used_time": None,
    "made_time": "2026-12-02T10:00:00+00:00", "expires_time": "2027-03-02T10:00:00+00:00",
}  # fmt: skip
CHOICES: dict[str, Any] = {
    "language": None, "quiet": None, "quiet_now": None, "digest_hour": 8, "time_zone": "UTC",
    "topics": ["job_failed"], "chosen": [], "services": [], "webhooks": [], "unread": 0,
    "channels": [{"channel": "mail", "kind": "mail", "name": "", "address": "a@lab.test",
                  "allowed": True, "trouble": None, "wanted": {"job_failed": "now"}}],
}  # fmt: skip
ENVS = Path(tempfile.gettempdir()) / f"roost-envs-{os.getpid()}"
# Installing is never root's doing, which is who runs these tests in CI.
REFUSED_TO_ROOT = {"env create", "env clone"} if os.geteuid() == 0 else set[str]()


def environments() -> dict[str, Any]:
    """The daemon's answer; one's own "ml" is made anew in the folder that it names."""
    shutil.rmtree(ENVS, ignore_errors=True)
    (ENVS / "ml" / "bin").mkdir(parents=True)
    (ENVS / "ml" / "bin" / "python").symlink_to("/usr/bin/python3")
    (ENVS / "ml" / "pyvenv.cfg").write_text("home = /usr/bin\nrelocatable = true\n")
    said = {"name": "ml", "kind": "venv", "python": "", "made_at": 1.0}
    (ENVS / "ml" / "roost-env.json").write_text(json.dumps(said))
    return {"directory": str(ENVS), "environments": []}


AT_ENVS = {"GET /v1/environments": environments, "DELETE /v1/environment-clones/ml": {"done": True}}
SHARED = Path(tempfile.mkdtemp(prefix="roost-cli-data-"))
(SHARED / "set").mkdir()
(SHARED / "links").mkdir()
(SHARED / "manifest").touch()
DATA: dict[str, Any] = {
    "name": "set", "owner": "alice", "licence": "", "state": "ready", "detail": None,
    "path": f"{SHARED}/set", "manifest": f"{SHARED}/manifest", "bytes": 0, "all_bytes": 0,
    "files": 0, "pickled": 1, "sha256": hashlib.sha256(b"").hexdigest(), "made_time": None,
    "used_time": None,
}  # fmt: skip
PEOPLE = Path(__file__).parents[1] / "data" / "sheets" / "people.csv"
STEP: dict[str, Any] = {"step": "create", "user": "wang", "text": "create the account wang"}
ACCOUNTS: dict[str, Any] = {
    "POST /v1/accounts/plan": {"steps": [STEP], "remarks": [], "problems": [], "plan": "ab"},
    "POST /v1/accounts/apply": {
        "done": True, "steps": [STEP | {"outcome": "done", "why": None}]},
    "GET /v1/accounts": {"quota": "on", "archives": [], "accounts": [{
        "user": "wang", "uid": 1001, "full_name": "", "state": "active", "local": True,
        "made": True, "home": "/home/wang", "home_mode": "0700", "groups": ["wang"],
        "charges": ["default"], "keys": 0, "quota_bytes": None, "powerful": None}]},
}  # fmt: skip
CALLS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "status": ([], {}),
    "who": ([], {}),
    "run": (["--", "true"], {}),
    "jobs": ([], {}),
    "show": (["42"], {}),
    "why": (["42"], {"GET /v1/jobs/42/why": {"job": 42, "state": "PENDING", "reasons": [],
                     "forecast_start": None, "forecast_latest": None,
                     "forecast_unknown": None, "startable_now": None}}),
    "wait": (["42"], {"GET /v1/jobs/42/wait": job(42, "COMPLETED")}),
    "cancel": (["42"], {"POST /v1/jobs/42/cancel": job(42, "CANCELLED")}),
    "hold": (["42"], {"POST /v1/jobs/42/hold": job(42, "PENDING")}),
    "release": (["42"], {"POST /v1/jobs/42/release": job(42, "PENDING")}),
    "requeue": (["42"], {"POST /v1/jobs/42/requeue": job(42, "PENDING")}),
    "free": (["0", "--yes"], {
        "GET /v1/gpus/0/free-plan": {"gpu_index": 0, "gpu_uuid": "GPU-0", "items": [
            {"pid": 5, "start_ticks": 6, "user": "alice"}], "jobs": [], "others": []},
        "POST /v1/gpus/0/free": {"processes": [{"pid": 5, "start_ticks": 6, "outcome": "ended"}],
                                 "memory_before_bytes": {}, "memory_after_bytes": {}}}),
    "drain": (["0"], {"POST /v1/gpus/0/drain": {"done": True, "gpu_uuid": "GPU-0"}}),
    "undrain": (["0"], {"POST /v1/gpus/0/undrain": {"done": True, "gpu_uuid": "GPU-0"}}),
    "driver release": ([], {"POST /v1/driver/release": {"done": True}}),
    "driver hold": ([], {"POST /v1/driver/hold": {"done": True}}),
    "usage": ([], {"GET /v1/usage": {"usage": [], "gaps": []}}),
    "audit": ([], {"GET /v1/audit/checks": {
        "server": "s", "time": "", "whose": None, "root": True, "checks": ["tmp"],
        "findings": [], "unseen": [], "undoable": []}}),
    "audit log": ([], {"GET /v1/audit": {"audit": []}}),
    "user add": (["wang", "--yes"], ACCOUNTS),
    "user import": ([str(PEOPLE), "--yes"], ACCOUNTS),
    "user list": ([], ACCOUNTS),
    "user show": (["wang"], ACCOUNTS),
    "user disable": (["wang", "--yes"], ACCOUNTS),
    "user enable": (["wang", "--yes"], ACCOUNTS),
    "user remove": (["wang", "--yes"], ACCOUNTS),
    "user restore": (["wang", "--yes"], ACCOUNTS),
    "token create": ([], {"POST /v1/tokens": TOKEN | {"secret": "roost_x"}}),
    "token list": ([], {"GET /v1/tokens": {"tokens": [TOKEN]}}),
    "token revoke": (["ab12"], {"DELETE /v1/tokens/ab12": {"done": True}}),
    "notify show": ([], {"GET /v1/notifications": CHOICES}),
    "notify set": (["--quiet", "none"], {
        "GET /v1/notifications": CHOICES, "PUT /v1/notifications": CHOICES}),
    "notify add": ([], {"POST /v1/notifications/channels": CHOICES["channels"][0]}),
    "notify remove": (["ab"], {"DELETE /v1/notifications/channels/ab": {"done": True}}),
    "notify test": (["mail"], {
        "POST /v1/notifications/channels/mail/test": {"sent": True, "problem": None}}),
    "notify list": ([], {"GET /v1/notices": {"notices": [], "unread": 0}}),
    "motd": ([], {"GET /v1/motd": {
        "booking": None, "running": 1, "waiting": 0, "maintenance": [], "unread": 0}}),
    "book": (["--from", "2026-12-03T09:00+00:00", "--for", "1h"], {
        "POST /v1/bookings": {"bookings": [
            {"booking": 1, "state": "booked", "gpu_indices": [0], "start": "", "end": ""}]}}),
    "bookings": ([], {"GET /v1/bookings": {"bookings": []}}),
    "book cancel": (["1"], {"POST /v1/bookings/1/cancel": {"booking": 1, "state": "cancelled"}}),
    "book end": (["1"], {"POST /v1/bookings/1/cancel": {"booking": 1, "state": "ended"}}),
    "book extend": (["1", "--until", "2026-12-03T09:00+00:00"], {
        "POST /v1/bookings/1/change": {"booking": 1, "gpu_indices": [0], "start": "", "end": ""}}),
    "book move": (["1", "--from", "2026-12-03T09:00+00:00"], {
        "POST /v1/bookings/1/change": {"booking": 1, "gpu_indices": [0], "start": "", "end": ""}}),
    "book give": (["1", "mei"], {"POST /v1/bookings/1/give": {"booking": 1, "user": "mei"}}),
    "book swap": (["1", "2"], {"POST /v1/bookings/1/swap": {
        "swapped": True, "bookings": [{"user": "mei"}, {"user": "lin"}]}}),
    "book import": ([str(SHEET), "--dry-run"],
                    {"GET /v1/rules": RULES | {"rules": {"bookings": {}}}}),
    "book export": ([str(EXPORTED)], {"GET /v1/bookings": {"bookings": []}}),
    "book feed": ([], {"POST /v1/feeds": {
        "feed": "f1", "user": "alice", "of": "mine", "target": None, "made_time": None,
        "used_time": None, "path": "/v1/feeds/x/bookings.ics"}}),
    "data add": ([str(SHARED), "--name", "set"], {"POST /v1/data": DATA}),
    "data list": ([], {"GET /v1/data": {"data": [DATA], "path": str(SHARED)}}),
    "data show": (["set"], {"GET /v1/data/set": DATA}),
    "data link": (["set", f"{SHARED}/links"], {"GET /v1/data/set": DATA}),
    "data verify": (["set"], {"GET /v1/data/set": DATA}),
    "data remove": (["-y", "set"], {"GET /v1/data/set": DATA, "DELETE /v1/data/set": DATA}),
    "rules show": ([], {"GET /v1/rules": RULES | {"text": "x"}}),
    "rules check": (["/dev/null"], {}),
    "rules diff": (["/dev/null", "/dev/null"], {}),
    "rules try": (["/dev/null"], {"GET /v1/history": history(past(1)), "GET /v1/rules": RULES}),
    "rules history": ([], {"GET /v1/rules/history": {"history": []}}),
    "replay": ([str(SACCT), "--servers", "1x4"], {}),
    "env create": (["x"], AT_ENVS),
    "env list": ([], AT_ENVS),
    "env show": (["ml"], AT_ENVS),
    "env lock": (["ml"], AT_ENVS),
    "env clone": (["ml", "x"], AT_ENVS),
    "env share": (["ann/ml", "--stop"], {"DELETE /v1/environments/ann/ml": {"done": True}}),
    "env remove": (["--yes", "ml"], AT_ENVS),
    "env doctor": (["ml"], AT_ENVS),
    "version": ([], {}),
}  # fmt: skip


def test_every_command_that_shows_something_takes_json():
    silent = {"top", "logs", "serve", "install", "uninstall", "completions", "help"}
    shown = {name for _, names in GROUPS for name in names} - silent
    assert shown == set(CALLS) == set(SHAPES)
    for name in shown:
        assert any(option.key == "json" for option in COMMANDS[name].options), name


@pytest.mark.parametrize("name", CALLS)
def test_json_keys(stub: Stub, roost: Roost, name: str):
    words, answers = CALLS[name]
    for key, value in answers.items():
        stub.answers[key] = (200, value)
    at = name.split()
    done = roost(*at, "--json", *words)
    if name in REFUSED_TO_ROOT:
        assert (done.returncode, done.stdout) == (1, "")
        assert "root" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) == set(SHAPES[name])


def test_each_command_prints_and_exits_0_without_json(stub: Stub, roost: Roost):
    for name, (words, answers) in CALLS.items():
        for key, value in answers.items():
            stub.answers[key] = (200, value)
        done = roost(*name.split(), *words)
        assert done.returncode == int(name in REFUSED_TO_ROOT), (name, done.stderr)
        assert done.stdout or name == "wait" or name in REFUSED_TO_ROOT, name
        assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_ends_it_quietly(stub: Stub, roost: Roost):
    done = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m roost help | true; exit 0"], capture_output=True,
        env={**os.environ, "ROOST_SOCKET": stub.path}, check=True,
    )  # fmt: skip
    assert done.stderr == b""


def test_free_asks_and_without_a_terminal_refuses(stub: Stub, roost: Roost):
    stub.answers["GET /v1/gpus/0/free-plan"] = (200, {
        "gpu_index": 0, "gpu_uuid": "GPU-0", "others": [],
        "items": [{"pid": 5, "start_ticks": 6, "user": "alice", "command": "python train.py",
                   "text": "holds /dev/nvidia0 open"}]})  # fmt: skip
    done = roost("free", "0")
    assert done.returncode == 1
    assert "python train.py" in done.stdout
    assert "holds /dev/nvidia0 open" in done.stdout
    assert "--yes" in done.stderr
    assert not [1 for method, *_ in stub.seen if method == "POST"]


def test_several_jobs_each_told_and_the_first_failure_is_the_exit_code(stub: Stub, roost: Roost):
    stub.answers["POST /v1/jobs/42/cancel"] = (200, job(42, "CANCELLED"))
    stub.answers["POST /v1/jobs/43/cancel"] = (403, {"type": "/problems/x", "detail": "not yours"})
    done = roost("cancel", "43", "42")
    assert done.returncode == 4
    assert done.stderr == "roost cancel 43: not yours\n"
    assert "job 42" in done.stdout


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1), (b"\x03", 130)])
def test_free_ends_only_after_yes(stub: Stub, answer: bytes, code: int):
    """At a terminal: the list, the question, and exactly what was shown."""
    stub.answers["GET /v1/gpus/0/free-plan"] = (
        200,
        {
            "gpu_index": 0,
            "gpu_uuid": "GPU-0",
            "jobs": [],
            "others": [],
            "items": [
                {
                    "pid": 5,
                    "start_ticks": 6,
                    "user": "alice",
                    "command": "python train.py",
                    "memory_bytes": 1 << 30,
                    "since": None,
                    "evidence": "holds /dev/nvidia0",
                }
            ],
        },
    )
    stub.answers["POST /v1/gpus/0/free"] = (
        200,
        {
            "processes": [{"pid": 5, "start_ticks": 6, "outcome": "ended", "text": ""}],
            "memory_before_bytes": {"GPU-0": 3 << 30},
            "memory_after_bytes": {"GPU-0": 1 << 30},
        },
    )
    pid, master = pty.fork()
    if pid == 0:
        os.environ.update(ROOST_SOCKET=stub.path, LC_ALL="C.UTF-8", TERM="dumb")
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # what runs in the background ignores it
        os.execv(sys.executable, [sys.executable, "-m", "roost", "free", "0"])
    shown = b""
    asked = False
    while True:
        try:
            data = os.read(master, 4096)
        except OSError:
            break
        if not data:
            break
        shown += data
        if not asked and b"[y/N]" in shown:
            asked = True
            os.write(master, answer)
    _, status = os.waitpid(pid, 0)
    os.close(master)
    assert os.waitstatus_to_exitcode(status) == code
    assert b"python train.py" in shown
    assert b"holds /dev/nvidia0" in shown
    ended = [body for method, _, body, _ in stub.seen if method == "POST"]
    assert ended == ([{"items": [{"pid": 5, "start_ticks": 6}]}] if code == 0 else [])
    if code == 0:
        assert b"2.0 GiB came back: 3.0 GiB in use before, 1.0 GiB now" in shown
