"""What `roost run` sends, and what it refuses before it sends anything."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Roost
from tests.cli.stub import Stub, job


def sent(stub: Stub) -> dict[str, Any]:
    bodies = [body for method, path, body, _ in stub.seen if (method, path) == ("POST", "/v1/jobs")]
    assert len(bodies) == 1
    return dict(bodies[0])


def test_a_command_with_this_shells_environment_directory_and_umask(
    stub: Stub, roost: Roost, tmp_path: Path
):
    done = roost("run", "-g", "2", "--time", "4h", "--mem", "16G", "--", "echo", "a b", "--json",
                 environment={"MINE": "1"})  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "45\n", "")
    body = sent(stub)
    assert body["command"] == ["echo", "a b", "--json"]
    assert (body["gpus"], body["walltime_s"], body["memory_bytes"]) == (2, 14400, 16 << 30)
    assert body["environment"]["MINE"] == "1"
    assert body["directory"] == str(tmp_path / "work")
    assert body["umask"] == 0o027
    assert body["name"] == "echo"
    assert body["output"] == str(tmp_path / "work/roost-%j.out")


def test_json_has_the_number_and_the_state(stub: Stub, roost: Roost):
    done = roost("run", "--json", "--", "true")
    assert json.loads(done.stdout) == {"job": 45, "state": "PENDING", "notes": []}


def test_any_bytes_go_through(stub: Stub, roost: Roost, tmp_path: Path):
    folder = tmp_path / "work" / os.fsdecode(b"d\xff")
    folder.mkdir()
    done = roost("run", "--", "echo", b"\xff\n\xe2\x82", cwd=folder,
                 environment={"BYTES": os.fsdecode(b"\xfe"), "LC_ALL": "C.UTF-8"})  # fmt: skip
    assert done.returncode == 0, done.stderr
    body = sent(stub)
    assert base64.b64decode(body["command"][1]["base64"]) == b"\xff\n\xe2\x82"
    assert base64.b64decode(body["directory"]["base64"]).endswith(b"/d\xff")
    pairs = {key if isinstance(key, str) else None: value for key, value in body["environment"]}
    assert base64.b64decode(pairs["BYTES"]["base64"]) == b"\xfe"


def test_pythons_own_locale_is_not_handed_on(stub: Stub, roost: Roost):
    roost("run", "--", "true", bare=True)
    assert "LC_CTYPE" not in sent(stub)["environment"]


def test_a_script_is_sent_whole_with_its_directives_under_the_options(
    stub: Stub, roost: Roost, tmp_path: Path
):
    script = tmp_path / "work" / "train.sh"
    text = "#!/bin/bash\n#ROOST -g 4 --time 2h\n#SBATCH -c 8 --partition=a100\npython train.py\n"
    script.write_text(text)
    done = roost("run", "--time", "1h", "train.sh", "--lr", "0.1")
    assert done.stdout == "45\n"
    assert done.stderr == (
        "roost run: train.sh line 3: #SBATCH --partition=a100 has no meaning here and is ignored\n"
    )
    body = sent(stub)
    assert body["script"] == text
    assert body["script_args"] == ["--lr", "0.1"]
    assert (body["gpus"], body["walltime_s"], body["cpus"]) == (4, 3600, 8)
    assert body["name"] == "train.sh"
    assert body["source"]["sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_a_script_from_standard_input(stub: Stub, roost: Roost):
    done = roost("run", "-", "x", text="#!/bin/sh\n#ROOST --name from-stdin\necho $1\n")
    assert done.returncode == 0, done.stderr
    body = sent(stub)
    assert body["name"] == "from-stdin"
    assert body["script_args"] == ["x"]


def test_the_source_is_the_file_that_the_interpreter_gets_with_its_commit(
    stub: Stub, roost: Roost, tmp_path: Path
):
    work = tmp_path / "work"
    (work / "train.py").write_text("print(1)\n")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@y.z", "-C", str(work)]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    roost("run", "--", "python3", "-u", "train.py")
    source = sent(stub)["source"]
    assert source == {
        "path": str(work / "train.py"),
        "sha256": hashlib.sha256(b"print(1)\n").hexdigest(),
        "git_commit": head.stdout.strip(),
        "git_dirty": False,
    }
    stub.seen.clear()
    (work / "train.py").write_text("print(2)\n")
    subprocess.run([*git, "pack-refs", "--all"], check=True)
    roost("run", "--", "python3", "train.py")
    source = sent(stub)["source"]
    assert source["git_dirty"] is True
    assert source["git_commit"] == head.stdout.strip()


def test_variables_from_a_file(stub: Stub, roost: Roost, tmp_path: Path):
    (tmp_path / "work" / "env").write_text("# x\nexport A=1\nB='two words'\n\nHOME=/elsewhere\n")
    roost("run", "--env-file", "env", "--", "true")
    env = sent(stub)["environment"]
    assert (env["A"], env["B"], env["HOME"]) == ("1", "two words", "/elsewhere")
    (tmp_path / "work" / "env").write_text("A=1\nB 2\n")
    done = roost("run", "--env-file", "env", "--", "true")
    assert done.returncode == 2
    assert "env line 2: not NAME=VALUE" in done.stderr


def test_a_share_of_compute_goes_along_with_the_memory(stub: Stub, roost: Roost):
    roost("run", "--gpu-mem", "10G", "--gpu-compute", "30", "--", "true")
    body = sent(stub)
    assert (body["gpu_memory_bytes"], body["gpu_compute_percent"]) == (10 << 30, 30)
    assert "gpus" not in body
    done = roost("run", "-g", "1", "--gpu-compute", "30", "--", "true")
    assert done.returncode == 2
    assert "--gpus" in done.stderr
    assert "--gpu-compute" in done.stderr


def test_what_is_typed_goes_before_the_share_that_a_script_asks_for(
    stub: Stub, roost: Roost, tmp_path: Path
):
    path = tmp_path / "work" / "job.sh"
    path.write_text("#!/bin/sh\n#ROOST --gpu-mem 10G --gpu-compute 30\ntrue\n")
    roost("run", "-g", "2", "job.sh")
    body = sent(stub)
    assert body["gpus"] == 2
    assert not {"gpu_memory_bytes", "gpu_compute_percent"} & body.keys()
    stub.seen.clear()
    roost("run", "--gpu-compute", "50", "job.sh")
    body = sent(stub)
    assert (body["gpu_memory_bytes"], body["gpu_compute_percent"]) == (10 << 30, 50)


def test_a_reason_goes_along(stub: Stub, roost: Roost):
    roost("run", "--class", "urgent", "--reason", "截稿 at noon", "--", "true")
    assert (sent(stub)["class"], sent(stub)["reason"]) == ("urgent", "截稿 at noon")
    stub.seen.clear()
    roost("run", "--", "true")
    assert "reason" not in sent(stub)


def test_begin_is_in_the_time_zone_of_the_rules(stub: Stub, roost: Roost):
    roost("run", "--begin", "2099-07-01 9:00", "--", "true")
    assert not [1 for method, *_ in stub.seen if method == "POST"]
    roost("run", "--begin", "2099-07-01 09:00", "--", "true")
    assert sent(stub)["begin_time"] == "2099-07-01T09:00:00+02:00"
    done = roost("run", "--begin", "2001-01-01", "--", "true")
    assert done.returncode == 2
    assert "already past" in done.stderr


def test_output_and_dependencies(stub: Stub, roost: Roost, tmp_path: Path):
    roost("run", "-o", "logs/%j.out", "--after", "3,4", "--after", "9", "--hold", "--no-requeue",
          "--", "not-there-yet")  # fmt: skip
    body = sent(stub)
    assert body["output"] == str(tmp_path / "work/logs/%j.out")
    assert body["after"] == [3, 4, 9]
    assert body["held"] is True
    assert body["requeue"] is False


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--", "no-such-program-x"], "no such command in PATH"),
        (["--", "./nothing"], "./nothing: no such file"),
        (["--", "."], "no such command"),
        (["--", "./here"], "./here is a directory"),
        (["--", "./plain.py"], "./plain.py has no right to execute and no #! line"),
        (["--", "./script.sh"], "has no right to execute: chmod +x ./script.sh"),
        (["--", "script.sh"], "write ./script.sh"),
        (["plain.py"], "plain.py does not begin with #!"),
        (["--chdir", "/no/such", "--", "true"], "the directory /no/such does not exist"),
        (["--chdir", "plain.py", "--", "true"], "is not a directory"),
        (["--env-file", "none", "--", "true"], "none: No such file"),
    ],
)
def test_what_cannot_run_is_refused_at_once(
    stub: Stub, roost: Roost, tmp_path: Path, words: list[str], said: str
):
    work = tmp_path / "work"
    (work / "here").mkdir()
    (work / "plain.py").write_text("print(1)\n")
    (work / "script.sh").write_text("#!/bin/sh\n")
    done = roost("run", *words)
    assert done.returncode == 1
    assert said in done.stderr
    assert done.stdout == ""
    assert not [1 for method, *_ in stub.seen if method == "POST"]


def test_a_directory_that_is_gone(stub: Stub, roost: Roost, tmp_path: Path):
    import sys

    gone = tmp_path / "gone"
    gone.mkdir()
    code = (
        "import os, sys; os.rmdir(os.getcwd()); sys.argv = ['roost', 'run', '--', 'true'];"
        "from roost.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=gone, capture_output=True, text=True, check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8", "PYTHONPATH": os.pathsep.join(sys.path[1:])},
    )  # fmt: skip
    assert done.returncode == 1
    assert "the directory that you are in is gone" in done.stderr


@pytest.mark.parametrize(
    "words",
    [["--pty", "--", "true"], ["-g", "1", "--gpu-mem", "2G", "--", "true"],
     ["--array", "0-3", "--follow", "--", "true"], ["--json", "--follow", "--", "true"]],
)  # fmt: skip
def test_options_that_contradict_each_other(stub: Stub, roost: Roost, words: list[str]):
    assert roost("run", *words).returncode == 2
    assert not stub.seen


def test_an_argument_that_linux_would_never_execute(stub: Stub):
    from roost.cli.failure import CommandError
    from roost.cli.submission import check_size

    with pytest.raises(CommandError) as caught:
        check_size([b"x" * 200_000], {})
    assert caught.value.code == "argument_too_large"
    with pytest.raises(CommandError) as caught:
        check_size([b"x" * 100_000] * 40, {b"A": b"1"})
    assert caught.value.code == "command_too_large"
    with pytest.raises(CommandError) as caught:
        check_size([b"x"], {b"SMALL": b"", b"HUGE": b"x" * 9_000_000})
    assert caught.value.numbers["name"] == "HUGE"


def test_the_daemons_refusal_is_its_sentence_and_exit_code_1(stub: Stub, roost: Roost):
    stub.answers["POST /v1/jobs"] = (
        422,
        {"type": "/problems/too_many_gpus", "detail": "this server has 8 GPUs", "limit": 8},
    )
    done = roost("run", "-g", "10", "--", "true")
    assert (done.returncode, done.stderr) == (1, "roost run: this server has 8 GPUs\n")
    assert sent(stub)["gpus"] == 10


def test_notes_are_told_beside_the_number(stub: Stub, roost: Roost):
    stub.answers["POST /v1/jobs"] = (201, {"job": 7, "state": "PENDING", "notes": ["a note"]})
    done = roost("run", "--", "true")
    assert (done.stdout, done.stderr) == ("7\n", "roost run: a note\n")


@pytest.mark.parametrize(
    ("ended", "code"),
    [
        (job(45, "COMPLETED", exit_code=0), 0),
        (job(45, "FAILED", exit_code=3), 3),
        (job(45, "FAILED", signal=11), 139),
        (job(45, "TIMEOUT", signal=15), 124),
        (job(45, "CANCELLED", signal=15), 143),
        (job(45, "CANCELLED"), 1),
        (job(45, "OUT_OF_MEMORY"), 137),
        (job(45, "NODE_FAIL"), 1),
    ],
)
def test_wait_exits_as_the_job_did(stub: Stub, roost: Roost, ended: dict[str, Any], code: int):
    stub.answers["GET /v1/jobs/45"] = stub.answers["GET /v1/jobs/45/wait"] = (200, ended)
    assert roost("run", "--wait", "--", "true").returncode == code
    assert roost("wait", "45").returncode == code


def test_wait_gives_up_at_its_timeout(stub: Stub, roost: Roost):
    running = (200, job(45, "RUNNING"))
    stub.answers["GET /v1/jobs/45"] = stub.answers["GET /v1/jobs/45/wait"] = running
    done = roost("wait", "--timeout", "1s", "45")
    assert done.returncode == 124
    assert "job 45 has not ended" in done.stderr


def test_follow_shows_the_output_and_exits_as_the_job(stub: Stub, roost: Roost, tmp_path: Path):
    out = tmp_path / "out"
    out.write_bytes(b"one\n\xff\xfe")
    states = iter(["RUNNING", "RUNNING", "FAILED"])

    def next_state() -> dict[str, Any]:
        state = next(states, "FAILED")
        if state == "RUNNING":
            with out.open("ab") as file:
                file.write(b"more\n")
        return job(45, state, output=str(out), exit_code=5 if state == "FAILED" else None)

    stub.answers["GET /v1/jobs/45"] = (200, job(45, "RUNNING", output=str(out)))
    stub.answers["GET /v1/jobs/45/wait"] = (200, next_state)
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "roost", "run", "--follow", "--", "true"], capture_output=True,
        env={**os.environ, "ROOST_SOCKET": stub.path, "LC_ALL": "C.UTF-8"}, check=False,
    )  # fmt: skip
    assert done.stdout == b"one\n\xff\xfemore\nmore\n"
    assert done.returncode == 5
    assert b"exit code 5" in done.stderr or b"has failed" in done.stderr
