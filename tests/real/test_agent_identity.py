"""A job is its user and nothing more: rights, groups, files, environment, and who is refused."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.core.model import EndReason
from roost.wire.messages import GpuGrant, SourceFile
from tests.real.agent_rig import Agent, agent
from tests.real.rig import Account, accounts

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]


@pytest.fixture(scope="module")
def people() -> Iterator[list[Account]]:
    with accounts("ann", "ben", prefix="rai-") as made:
        subprocess.run(["groupadd", "-f", "rai-extra"], check=True)
        subprocess.run(["usermod", "-aG", "rai-extra", made[0].name], check=True)
        yield made
    subprocess.run(["groupdel", "rai-extra"], check=False)


@pytest.fixture(scope="module")
def running(people: list[Account]) -> Iterator[Agent]:
    with agent() as made:
        yield made


@pytest.fixture
def ann(people: list[Account]) -> Account:
    return people[0]


@pytest.fixture
def ben(people: list[Account]) -> Account:
    return people[1]


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def variables(path: Path) -> list[tuple[str, str]]:
    return [(k, v) for k, _, v in (line.partition("=") for line in lines(path))]


def test_a_job_has_its_users_ids_groups_home_and_umask(running: Agent, ann: Account) -> None:
    out = ann.home / "ids"
    script = "id -u; id -g; id -Gn; pwd; umask; echo $HOME $USER $LOGNAME; touch made"
    end = running.shell(ann.name, script, out, directory=os.fsencode(ann.home), umask=0o027)
    assert (end.reason, end.exit_code) == (EndReason.EXITED, 0)
    uid, gid, groups, where, umask, home = lines(out)
    assert (int(uid), int(gid), where, umask) == (ann.uid, ann.gid, str(ann.home), "0027")
    assert "rai-extra" in groups.split()
    assert home == f"{ann.home} {ann.name} {ann.name}"
    assert (out.stat().st_uid, out.stat().st_gid, out.stat().st_mode & 0o777) == (
        ann.uid,
        ann.gid,
        0o640,
    )
    assert (ann.home / "made").stat().st_uid == ann.uid


def test_a_job_has_no_rights_and_setuid_programs_give_it_none(running: Agent, ann: Account) -> None:
    out = ann.home / "rights"
    running.shell(ann.name, "grep -E '^(CapEff|CapPrm|NoNewPrivs)' /proc/self/status", out)
    assert {tuple(line.split()) for line in lines(out)} == {
        ("CapEff:", "0" * 16),
        ("CapPrm:", "0" * 16),
        ("NoNewPrivs:", "1"),
    }


def test_a_job_inherits_no_descriptor_and_no_ignored_signal(running: Agent, ann: Account) -> None:
    out = ann.home / "inherited"
    running.shell(ann.name, "ls /proc/self/fd; grep SigIgn /proc/self/status", out)
    *descriptors, ignored = lines(out)
    assert descriptors == ["0", "1", "2", "3"]  # 3 is the folder that ls reads
    assert int(ignored.split()[1], 16) == 0


def test_submitted_gpu_variables_are_overridden_once(running: Agent, ann: Account) -> None:
    """The inherited environment already has CUDA_VISIBLE_DEVICES."""
    uuid = running.uuids()[1]
    out = ann.home / "env"
    running.run(
        ann.name,
        "/usr/bin/env",
        output=os.fsencode(out),
        gpus=(GpuGrant(uuid, 1 << 30),),
        environment={
            b"CUDA_VISIBLE_DEVICES": b"0,1,2,3",
            b"NVIDIA_VISIBLE_DEVICES": b"all",
            b"ROOST_JOB_ID": b"7",
            b"ROOST_ARRAY_INDEX": b"3",
            b"MINE": b"kept",
        },
    )
    found = variables(out)
    names = [name for name, _ in found]
    assert len(names) == len(set(names))
    value = dict(found)
    assert value["CUDA_VISIBLE_DEVICES"] == value["NVIDIA_VISIBLE_DEVICES"] == uuid
    assert value["ROOST_GPUS"] == uuid
    assert value["ROOST_GPU_MEMORY_BYTES"] == str(1 << 30)
    assert value["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert value["MINE"] == "kept"
    assert value["ROOST_JOB_ID"] != "7"
    assert "ROOST_ARRAY_INDEX" not in value


def test_a_job_without_gpus_is_shown_none(running: Agent, ann: Account) -> None:
    out = ann.home / "none"
    running.run(ann.name, "env", output=os.fsencode(out), environment={b"PATH": b"/usr/bin"})
    value = dict(variables(out))
    assert value["CUDA_VISIBLE_DEVICES"] == "NoDevFiles"
    assert value["NVIDIA_VISIBLE_DEVICES"] == "void"
    assert value["ROOST_GPU_COUNT"] == "0"


@pytest.mark.parametrize(
    ("user", "code"),
    [
        ("root", "system_user"),
        ("daemon", "system_user"),
        ("nobody", "system_user"),
        ("no-such-person", "unknown_user"),
        ("../etc", "unknown_user"),
        ("", "unknown_user"),
    ],
)
def test_system_and_unknown_accounts_run_nothing(running: Agent, user: str, code: str) -> None:
    refused = running.refusal(user, "/bin/true")
    assert refused.code == code
    assert len(refused.text) > 20


def test_a_disabled_account_runs_nothing(running: Agent) -> None:
    with accounts("off", prefix="rai-") as (account,):
        subprocess.run(["usermod", "-s", "/usr/sbin/nologin", account.name], check=True)
        assert running.refusal(account.name, "/bin/true").code == "disabled_user"


@pytest.mark.parametrize(
    "wrong",
    [
        {"job": 0},
        {"attempt": -1},
        {"cpus": -1},
        {"memory_bytes": 5},
        {"directory": b"relative"},
        {"directory": b"/a\0b"},
        {"output": b""},
        {"environment": {b"A=B": b""}},
        {"environment": {b"": b""}},
        {"environment": {b"A": b"x\0y"}},
        {"argv": ()},
        {"argv": (b"",)},
        {"script": b"#!/bin/sh\n"},
        {"walltime_s": float("nan")},
        {"walltime_s": -1.0},
        {"stop_signal": 99},
        {"umask": 0o10000},
        {"gpus": (GpuGrant("GPU,1"),)},
        {"name": "x" * 5000},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_nothing_out_of_bounds_is_believed(
    running: Agent, ann: Account, wrong: dict[str, object]
) -> None:
    spec = {"argv": (b"/bin/true",), **wrong}
    assert running.refusal(ann.name, **spec).code == "bad_spec"


def test_a_gpu_of_another_machine_is_refused(running: Agent, ann: Account) -> None:
    refused = running.refusal(ann.name, "/bin/true", uuids=["GPU-00000000-not-here"])
    assert refused.code == "unknown_gpu"
    assert "GPU-00000000-not-here" in refused.text


def test_output_is_written_with_the_users_rights_only(
    running: Agent, ann: Account, ben: Account
) -> None:
    victim = ben.home / "victim"
    victim.write_text("ben's")
    os.chown(victim, ben.uid, ben.gid)
    link = ann.home / "link"
    link.symlink_to(victim)
    (ann.home / "dir").symlink_to("/etc")
    for path in (victim, ben.home / "new", link, ann.home / "dir" / "rai-new", Path("/etc/rai-x")):
        end = running.shell(ann.name, "echo taken over", path)
        assert end.reason is EndReason.LAUNCH_FAILED, path
        assert end.message == "agent.output_failed"
        assert ann.name in end.text
    assert victim.read_text() == "ben's"
    assert not (ben.home / "new").exists()
    assert not Path("/etc/rai-new").exists()


@pytest.mark.parametrize("path", ["/proc/self/fd/3", "/proc/self/fd/4", "/proc/self/mem"])
def test_output_reaches_nothing_of_the_agents(running: Agent, ann: Account, path: str) -> None:
    before = {p: p.stat().st_mtime_ns for p in running.attempts.glob("*/*")}
    running.shell(ann.name, "echo taken over", Path(path))
    assert all(not p.exists() or p.stat().st_mtime_ns == m for p, m in before.items())


def test_an_output_that_would_wait_for_a_reader_is_refused(running: Agent, ann: Account) -> None:
    pipe = ann.home / "pipe"
    os.mkfifo(pipe)
    os.chown(pipe, ann.uid, ann.gid)
    end = running.shell(ann.name, "echo x", pipe)
    assert end.message == "agent.output_failed"


def test_output_is_appended_over_attempts(running: Agent, ann: Account) -> None:
    out = ann.home / "twice"
    for _ in range(2):
        running.shell(ann.name, "echo line; echo error >&2", out)
    assert lines(out) == ["line", "error"] * 2


def test_a_job_cannot_reach_another_users_job(running: Agent, ann: Account, ben: Account) -> None:
    job = running.launch(
        ben.name, "/bin/sleep", "30", environment={b"SECRET": b"bens"}, output=None
    )
    pid = running.running(job).pid
    out = ann.home / "reach"
    script = f"""
        exec 2>/dev/null
        kill -0 {pid} && echo signalled
        cat /proc/{pid}/environ && echo environ
        cat /proc/{pid}/mem && echo mem
        ls /proc/{pid}/fd/ && echo fds
        ls /proc/{pid}/root/ && echo root
        ls {running.state}/agent && echo state
        cat {running.state}/jobs/{job}.1/status && echo status
        echo end
    """
    running.shell(ann.name, script, out)
    assert lines(out) == ["end"]
    os.kill(pid or 0, 9)
    assert running.end(job).signal == 9


def test_a_script_is_its_users_alone_and_runs_with_its_interpreter(
    running: Agent, ann: Account, ben: Account
) -> None:
    out = ann.home / "script"
    job = running.launch(
        ann.name,
        argv=(),
        script=b"#!/bin/bash\necho ${BASH_VERSION:+bash} $1 $2\necho saved > $ROOST_STATUS_FILE\n"
        b"sleep 20 # secret\n",
        script_args=(b"a b", b"c"),
        output=os.fsencode(out),
    )
    running.running(job)
    assert running.wire is not None
    folder = running.state / "jobs" / f"{job}.1"
    for _ in range(100):
        if out.exists() and out.read_text():
            break
        time.sleep(0.05)
    assert lines(out) == ["bash a b c"]
    read = subprocess.run(
        ["/bin/cat", str(folder / "script")], user=ben.uid, group=ben.gid, capture_output=True
    )
    assert read.returncode != 0
    grow = subprocess.run(
        [
            "/bin/sh",
            "-c",
            f"echo more >> {folder}/script || touch {folder}/x || rm {folder}/status",
        ],
        user=ann.uid,
        group=ann.gid,
        capture_output=True,
    )
    assert grow.returncode != 0
    os.kill(running.running(job).pid or 0, 15)
    assert running.end(job).signal == 15
    assert not folder.exists()


def test_a_script_without_interpreter_line_is_for_sh(running: Agent, ann: Account) -> None:
    out = ann.home / "plain"
    end = running.run(ann.name, argv=(), script=b"echo sh $0; exit 4", output=os.fsencode(out))
    assert end.exit_code == 4
    assert out.read_text().startswith("sh /")


def test_what_cannot_start_says_why(running: Agent, ann: Account) -> None:
    plain = ann.home / "plain-file"
    plain.write_text("no program")
    for argv, code, message in (
        (("no-such-command",), 127, "agent.command_not_in_path"),
        (("/no/such/command",), 127, "agent.command_not_found"),
        ((str(plain),), 126, "agent.command_not_executable"),
        (("/etc",), 126, "agent.command_not_executable"),
    ):
        end = running.run(ann.name, *argv)
        assert (end.reason, end.exit_code, end.message) == (EndReason.LAUNCH_FAILED, code, message)
        assert argv[0] in end.text
    end = running.run(ann.name, argv=(), script=b"#!/no/interpreter -x\n")
    assert (end.exit_code, end.message) == (127, "agent.script_interpreter")
    end = running.run(ann.name, "/bin/true", directory=b"/no/such/directory")
    assert end.message == "agent.directory_gone"
    assert "/no/such/directory" in end.text


def test_two_megabytes_of_arguments_are_said_to_be_too_long(running: Agent, ann: Account) -> None:
    end = running.run(ann.name, "/bin/true", b"x" * 2_000_000)
    assert end.reason is EndReason.LAUNCH_FAILED
    assert "too long" in end.text


def test_names_of_any_bytes_break_nothing(running: Agent, ann: Account) -> None:
    folder = os.fsencode(ann.home) + b"/\xff \n'\"dir"
    os.mkdir(folder)
    os.chown(folder, ann.uid, ann.gid)
    out = folder + b"/\xfe$(x)out"
    end = running.run(
        ann.name, "/bin/sh", "-c", 'printf "%s" "$ROOST_JOB_NAME"', directory=folder, output=out,
        name="a\n'\"😀" + "n" * 300,
    )  # fmt: skip
    assert end.exit_code == 0
    with open(out, "rb") as file:
        assert file.read().startswith("a\n'\"😀n".encode())


def test_a_source_that_changed_since_submission_is_said_to_have(
    running: Agent, ann: Account
) -> None:
    import hashlib

    code = ann.home / "train.py"
    code.write_text("print(1)")
    seen = hashlib.sha256(b"print(1)").hexdigest()
    wire = running.wire
    assert wire is not None
    changed = []
    for path, digest in ((code, seen), (code, "0" * 64), (ann.home / "gone.py", seen)):
        job = running.launch(ann.name, "/bin/true", source=SourceFile(str(path), digest))
        running.end(job)
        changed.append(wire.states[job, 1].source_changed)
    assert changed == [False, True, True]


def test_a_home_without_any_right_for_root_is_enough(running: Agent) -> None:
    """Nothing needs root on a user's path; a home of 0777 or gone is no obstacle."""
    with accounts("odd", prefix="rai-") as (account,):
        account.home.chmod(0o777)
        assert running.shell(account.name, "true", account.home / "o").exit_code == 0
        subprocess.run(["rm", "-rf", str(account.home)], check=True)
        assert running.shell(account.name, "pwd", Path("/dev/null")).exit_code == 0
        end = running.run(account.name, "/bin/true", directory=os.fsencode(account.home))
        assert end.message == "agent.directory_gone"


def test_nobody_but_the_server_may_speak_to_the_agent(running: Agent, ann: Account) -> None:
    status = running.socket.stat()
    assert status.st_mode & 0o777 == 0o660
    for path, mode in ((running.state / "agent", 0o700), (running.attempts, 0o700)):
        assert path.stat().st_mode & 0o777 == mode
    running.socket.chmod(0o666)  # even with the door open, who calls is checked
    try:
        talk = (
            "import socket; s=socket.socket(socket.AF_UNIX);"
            f"s.connect({str(running.socket)!r}); s.sendall(b'x'*8); print(s.recv(1))"
        )
        done = subprocess.run(
            ["/usr/bin/python3", "-c", talk], user=ann.uid, group=ann.gid, capture_output=True,
            timeout=10,
        )  # fmt: skip
        assert done.stdout in (b"b''\n", b"")
    finally:
        running.socket.chmod(0o660)
