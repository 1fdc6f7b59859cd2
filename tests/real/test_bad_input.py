"""What people get wrong: a sentence that helps, the documented exit code, and nothing half done."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.real import rig
from tests.real.cases_rig import ZH

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
]
RULES = """operators = []
[groups.cv]
members = ["cs-bad-ann"]
[groups.nlp]
members = ["cs-bad-ben"]
[limits.regular]
max_gpus = 4
"""
Served = tuple[rig.Daemon, rig.Account, rig.Account]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with (
        rig.accounts("ann", "ben", prefix="cs-bad-") as (ann, ben),
        rig.daemon("--simulate", "8xA100", rules=RULES) as roost,
    ):
        yield roost, ann, ben


def refused(
    served: Served, *words: str, code: int = 1, zh: bool = False, cwd: Path | None = None
) -> str:
    """What `roost WORDS` by ann says on standard error; nothing else happened."""
    roost, ann, _ = served
    before = newest(roost)
    done = roost.cli(ann.name, *words, check=False, environment=ZH if zh else None, cwd=cwd)
    assert (done.returncode, done.stdout) == (code, ""), done
    assert "Traceback" not in done.stderr
    assert newest(roost) == before, "no job was made"
    return done.stderr.removesuffix("\n")


def newest(roost: rig.Daemon) -> list[int]:
    return [job["job"] for job in roost.json("root", "jobs", "--all", "--limit", "3")["jobs"]]


@pytest.mark.parametrize(
    ("words", "english", "chinese"),
    [
        (["-g", "0"], "0 GPUs were asked for; a job needs at least 1, this server has 8",
         "申请了 0 张 GPU；作业至少需要 1 张，本服务器共有 8 张"),
        (["-g", "-1"], "-1 GPUs were asked for; a job needs at least 1, this server has 8",
         "申请了 -1 张 GPU；作业至少需要 1 张，本服务器共有 8 张"),
        (["-g", "9"], "9 GPUs were asked for; this server has 8 GPUs",
         "申请了 9 张 GPU；本服务器共有 8 张 GPU"),
        (["-g", "5"], "this server has 8 GPUs; the most that regular jobs of group cv may hold is 4"
         " (rules: limits.regular.max_gpus)",
         "本服务器共有 8 张 GPU；组 cv 的 regular 作业最多可占用 4 张"
         "（规则：limits.regular.max_gpus）"),
        (["--gpu-model", "H100", "-g", "1"],
         "no GPU here is a H100; this server has 8 × NVIDIA A100-SXM4-80GB",
         "本服务器没有型号为 H100 的 GPU；现有：8 × NVIDIA A100-SXM4-80GB"),
        (["--group", "nlp"], "cs-bad-ann is not in group nlp; cs-bad-ann may charge: cv",
         "cs-bad-ann 不在组 nlp 中；可以记账到：cv"),
        (["--group", "physics"], "there is no group physics; cs-bad-ann may charge: cv",
         "没有组 physics；cs-bad-ann 可以记账到：cv"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_what_there_is(
    served: Served, words: list[str], english: str, chinese: str
) -> None:
    code = 4 if words == ["--group", "nlp"] else 1
    assert refused(served, "run", *words, "--", "true", code=code) == f"roost run: {english}"
    said = refused(served, "run", *words, "--", "true", code=code, zh=True)
    assert said == f"roost run: {chinese}"


def test_impossible_memory(served: Served) -> None:
    said = refused(served, "run", "--mem", "900T", "--", "true")
    assert re.fullmatch(
        r"roost run: 900 TiB of memory were asked for; this server has [\d.]+ GiB", said
    )
    said = refused(served, "run", "--mem", "900T", "--", "true", zh=True)
    assert said.startswith("roost run: 申请了 900 TiB 内存；本服务器共有 ")
    assert refused(served, "run", "--gpu-mem", "10G", "--", "true") == (
        "roost run: 10 GiB of GPU memory were asked for, but no GPU is marked shared"
        " (rules: shared_gpus); ask for whole GPUs with -g"
    )
    for size in ("0", "-1G", "much", "1e99G"):
        said = refused(served, "run", f"--mem={size}", "--", "true", code=2)
        assert said.startswith(f"roost run: --mem: {size} is not a size; write 16G, 512M or 1.5T")


def test_a_person_who_does_not_exist(served: Served) -> None:
    english = "there is no account nosuch on this server, and nothing of one is on record"
    for words in (
        ["who", "--user", "nosuch"], ["jobs", "--user", "nosuch"],
        ["jobs", "--all", "--user", "nosuch"], ["usage", "--user", "nosuch"],
        ["free", "0", "--user", "nosuch"],
    ):  # fmt: skip
        assert refused(served, *words) == f"roost {words[0]}: {english}"
    said = refused(served, "jobs", "--user", "nosuch", zh=True)
    assert said == "roost jobs: 本服务器上没有账号 nosuch，也没有它的任何记录"
    roost, ann, ben = served
    assert roost.cli(ann.name, "jobs", "--user", ben.name).returncode == 0, "nothing is no error"
    assert roost.cli(ann.name, "usage", "--user", ben.name).returncode == 0


def test_an_account_of_nobody_submits_nothing(served: Served) -> None:
    roost, *_ = served
    before = newest(roost)
    done = subprocess.run(
        [rig.readable_python(), "-m", "roost", "run", "--", "true"], user=61234, group=61234,
        extra_groups=[], cwd="/", capture_output=True, text=True, check=False,
        env={"ROOST_SOCKET": str(roost.socket), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert (done.returncode, done.stdout, newest(roost)) == (1, "", before)
    assert done.stderr == (
        "roost run: uid 61234 has no account on this server: a job runs as a Linux account\n"
    )


def test_a_command_that_does_not_exist(served: Served) -> None:
    _, ann, _ = served
    said = refused(served, "run", "--", "nosuchcommand")
    assert said == f"roost run: nosuchcommand: no such command in PATH or in {ann.home}"
    said = refused(served, "run", "--", "nosuchcommand", zh=True)
    assert said == f"roost run: nosuchcommand：在 PATH 和 {ann.home} 中都找不到这个命令"
    said = refused(served, "run", "--", "./nosuch")
    assert said.startswith("roost run: ./nosuch")


def test_a_command_that_is_gone_when_the_job_starts(served: Served) -> None:
    roost, ann, _ = served
    program = ann.home / "program"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)
    os.chown(program, ann.uid, ann.gid)
    number = roost.run(ann.name, "--hold", "--", "./program")
    program.unlink()
    roost.cli(ann.name, "release", str(number))
    job = roost.wait_state(number, "FAILED")
    assert job["text"] == "The command ./program does not exist."
    assert job["exit_code"] == 127
    said = roost.cli(ann.name, "show", str(number), environment=ZH).stdout
    assert "命令 ./program 不存在" in said
    assert roost.cli(ann.name, "wait", str(number), check=False).returncode == 127


def test_a_directory_that_is_gone(served: Served) -> None:
    roost, ann, _ = served
    said = refused(served, "run", "--chdir", "/no/such", "--", "true")
    assert said == "roost run: the directory /no/such does not exist: the job could not start there"
    said = refused(served, "run", "--chdir", "/no/such", "--", "true", zh=True)
    assert said == "roost run: 目录 /no/such 不存在，作业无法在其中启动"
    folder = ann.home / "gone"
    folder.mkdir()
    os.chown(folder, ann.uid, ann.gid)
    number = roost.run(
        ann.name, "--hold", "--output", str(ann.home / "o"), "--", "true", cwd=folder
    )
    folder.rmdir()
    roost.cli(ann.name, "release", str(number))
    job = roost.wait_state(number, "FAILED")
    assert job["text"].startswith(f"The directory {folder} is not there any more")
    assert not folder.exists()


def test_a_script_without_a_right_to_execute(served: Served) -> None:
    _, ann, _ = served
    script = ann.home / "plain.py"
    script.write_text("print(1)\n")
    os.chown(script, ann.uid, ann.gid)
    script.chmod(0o644)
    said = refused(served, "run", "plain.py")
    assert said == (
        "roost run: plain.py does not begin with #!: to run it as a command write"
        " roost run -- INTERPRETER plain.py"
    )
    said = refused(served, "run", "--", "./plain.py")
    assert said == (
        "roost run: ./plain.py has no right to execute and no #! line; name its interpreter:"
        " roost run -- python ./plain.py"
    )
    script.write_text("#!/bin/sh\ntrue\n")
    said = refused(served, "run", "--", "./plain.py")
    assert said == (
        "roost run: ./plain.py has no right to execute: chmod +x ./plain.py,"
        " or roost run ./plain.py (as a script)"
    )
    said = refused(served, "run", "--", "./plain.py", zh=True)
    assert said.startswith("roost run: ./plain.py 没有执行权限：请 chmod +x ./plain.py")


def test_a_socket_that_is_not_there(served: Served, tmp_path: Path) -> None:
    roost, ann, _ = served
    for command in (["status"], ["run", "--", "true"], ["jobs"], ["who"]):
        done = roost.cli(
            ann.name, *command, check=False, environment={"ROOST_SOCKET": "/no/such.sock"}
        )
        assert (done.returncode, done.stdout) == (3, "")
        assert "no Roost daemon at /no/such.sock; start it with" in done.stderr
    done = roost.cli(
        ann.name, "status", check=False, environment={**ZH, "ROOST_SOCKET": "/no/such.sock"}
    )
    assert done.returncode == 3
    assert "/no/such.sock" in done.stderr
    assert not done.stderr.isascii()


# -- starting ---------------------------------------------------------------------------------


def serve(*words: str | Path, zh: bool = False) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LC_ALL": "zh_CN.UTF-8" if zh else "C.UTF-8"}
    environment.pop("ROOST_SOCKET", None)
    return subprocess.run(
        [rig.readable_python(), "-m", "roost", "serve", "--simulate", "2xA100", *map(str, words)],
        capture_output=True, text=True, timeout=60, check=False, env=environment, cwd="/",
    )  # fmt: skip


@contextmanager
def folder() -> Iterator[Path]:
    """One that the server's account can enter."""
    path = Path(tempfile.mkdtemp(prefix="roost-bad-"))
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def used_state() -> Iterator[Path]:
    """The state of a daemon that ran and was stopped."""
    with rig.daemon("--simulate", "2xA100") as roost:
        roost.stop()
        yield roost.state


@contextmanager
def copy_of(state: Path) -> Iterator[Path]:
    with folder() as made:
        subprocess.run(["cp", "-a", f"{state}/.", str(made)], check=True)
        for left in [*made.glob("*.sock"), *made.glob("*.lock"), *made.glob("serve.log")]:
            left.unlink()
        yield made


def test_a_file_that_is_no_database() -> None:
    with folder() as state:
        database = state / "roost.db"
        database.write_bytes(b"holiday pictures " * 300)
        done = serve("--state", state)
        assert done.returncode == 1
        assert (
            f"roost: {database} is not a Roost database (it is no SQLite file); choose another with"
            " --state or --database\n" in done.stderr
        )
        assert database.read_bytes() == b"holiday pictures " * 300, "it is left as it is"
        assert f"{database} 不是 Roost 的数据库（它不是 SQLite 文件）" in serve(
            "--state", state, zh=True
        ).stderr  # fmt: skip


def test_a_database_of_a_newer_roost(used_state: Path) -> None:
    with copy_of(used_state) as state:
        with sqlite3.connect(state / "roost.db") as database:
            database.execute("UPDATE alembic_version SET version_num = '9999'")
        database.close()
        before = (state / "roost.db").read_bytes()
        done = serve("--state", state)
        assert done.returncode == 1
        assert (
            f"the database {state}/roost.db was made by a newer Roost (schema 9999;" in done.stderr
        )
        assert "install that version or a newer one, or restore a backup" in done.stderr
        assert (state / "roost.db").read_bytes() == before, "nothing is changed"


def test_a_damaged_database(used_state: Path) -> None:
    with copy_of(used_state) as state:
        database = state / "roost.db"
        content = bytearray(database.read_bytes())
        content[4096:] = b"\xa5" * (len(content) - 4096)
        database.write_bytes(content)
        done = serve("--state", state)
        assert done.returncode == 1
        assert f"the database {database} is damaged" in done.stderr
        assert "restore a backup, or start with an empty one" in done.stderr
        assert database.read_bytes() == content


def test_a_second_daemon_on_the_same_state(served: Served) -> None:
    roost, ann, _ = served
    assert roost.process is not None
    done = serve("--state", roost.state)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"another Roost daemon serves {roost.state}" in done.stderr
    assert str(roost.process.pid) in done.stderr
    assert roost.cli(ann.name, "status").returncode == 0, "the first goes on"


def test_rules_with_errors_at_the_first_start() -> None:
    with folder() as state:
        rules = state / "rules.toml"
        rules.write_text("oprators = []\n[limits.regular]\nmax_gpus = -3\n")
        done = serve("--state", state, "--rules", rules)
        assert done.returncode == 1, "never a queue without the limits that were meant"
        assert "roost: line 1: oprators is not a key that Roost knows; did you mean operators?" in (
            done.stderr
        )
        assert "line 3: limits.regular.max_gpus" in done.stderr
        assert (
            f"roost: {rules} cannot be used and no rules were ever in force here: nothing was"
            f" started; mend it (roost rules check {rules}) and start again\n" in done.stderr
        )
        assert not (state / "roost.sock").exists()
        said = serve("--state", state, "--rules", rules, zh=True).stderr
        assert "第 1 行：Roost 不认识 oprators" in said
        assert "未启动任何服务" in said


def test_rules_with_errors_on_reload_and_at_a_later_start() -> None:
    with rig.daemon("--simulate", "2xA100", rules="max_array = 7\n") as roost:
        rules = roost.state / "rules.toml"
        rules.write_text("max_array = 9\nmax_aray = 8\n")

        def shown() -> str:
            return roost.cli("root", "rules", "show").stderr

        rig.wait_for(lambda: "max_aray" in shown(), "the mistake is shown")
        assert "line 2: max_aray is not a key that Roost knows; did you mean max_array?" in shown()
        assert "the rules file is not in force" in roost.log()
        assert roost.json("root", "rules", "show")["rules"]["max_array"] == 7, "not half of it"
        said = roost.cli("root", "rules", "show", environment=ZH).stderr
        assert "Roost 不认识 max_aray" in said
        roost.stop()
        (roost.state / "serve.log").write_text("")
        roost.start()
        assert roost.json("root", "rules", "show")["rules"]["max_array"] == 7
        rig.wait_for(lambda: "Type next" in roost.log(), "the greeting")
        assert "the rules file as it is now is not in force: line 2: max_aray" in roost.log()


# -- a full disk ------------------------------------------------------------------------------


@contextmanager
def small_disk(mebibytes: int) -> Iterator[Path]:
    with folder() as path:
        options = ["-t", "tmpfs", "-o", f"size={mebibytes}m,mode=0755", "tmpfs"]
        subprocess.run(["mount", *options, str(path)], check=True)
        try:
            yield path
        finally:
            subprocess.run(["umount", "-l", str(path)], check=True)


def fill(path: Path) -> None:
    """Writes until nothing more fits."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    for block in (b"x" * 65536, b"x" * 512):
        with suppress(OSError):
            while True:
                os.write(descriptor, block)
    os.close(descriptor)


def test_a_disk_that_is_full_from_the_start() -> None:
    with small_disk(2) as state:
        fill(state / "filler")
        done = serve("--state", state)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert "No space left on device" in done.stderr
        assert str(state) in done.stderr


def test_a_disk_that_becomes_full_loses_no_job_and_recovers(served: Served) -> None:
    _, ann, _ = served
    with small_disk(6) as state:
        roost = rig.Daemon(state, ("--simulate", "2xA100"))
        roost.start()
        try:
            number = roost.run(ann.name, "--", "sh", "-c", "sleep 4; exit 5")
            roost.wait_state(number, "RUNNING")
            fill(state / "filler")
            accepted, said = 0, ""
            for _ in range(60):
                done = roost.cli(
                    ann.name, "run", "--hold", "--", "true", check=False,
                    environment={"PADDING": "x" * 60_000},
                )  # fmt: skip
                if done.returncode:
                    said = done.stderr
                    assert done.returncode == 1
                    break
                accepted += 1
            assert re.fullmatch(
                r"roost run: there is no space left for the database \S+: nothing was changed; free"
                r" some disk space and try again\n",
                said,
            )
            assert roost.cli(ann.name, "status").returncode == 0, "it still answers"
            time.sleep(5)
            (state / "filler").unlink()
            job = roost.wait_state(number, "FAILED")
            assert job["exit_code"] == 5, "its end was not lost"
            waiting = roost.json("root", "jobs")["jobs"]
            assert len(waiting) == accepted, "nothing half done"
            again = roost.run(ann.name, "--", "true")
            roost.wait_state(again, "COMPLETED")
        finally:
            for job in roost.json("root", "jobs", check=False).get("jobs", []):
                roost.cli("root", "cancel", str(job["job"]), check=False)
            roost.stop()
