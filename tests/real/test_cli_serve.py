"""`roost serve` itself: as root and as an ordinary user, its refusals, its children's lives."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.real.rig import (
    Daemon,
    accounts,
    daemon,
    open_to_all,
    processes_of,
    readable_python,
    wait_for,
)

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]


def serve(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "LC_ALL": "C.UTF-8"}
    env.pop("ROOST_SOCKET", None)
    return subprocess.run(
        [readable_python(), "-m", "roost", "serve", *words], capture_output=True, text=True,
        timeout=60, check=False, env=env, cwd="/", **options,  # type: ignore[call-overload]
    )  # fmt: skip


def test_it_says_where_and_what_to_type_and_a_second_one_is_refused():
    with daemon() as running:
        wait_for(lambda: "Type next" in running.log(), "the greeting")
        greeting = running.log()
        assert f"at {running.socket}" in greeting
        assert "no GPU here is real: 8 GPUs simulated (NVIDIA A100-SXM4-80GB)" in greeting
        for command in ("status", "run -g 1 -- sleep 60", "top"):
            assert command in greeting
        second = serve("--simulate", "8xA100", "--state", str(running.state))
        assert second.returncode == 1
        assert "another Roost daemon serves" in second.stderr
        third = serve(
            "--simulate", "8xA100", "--state", f"{running.state}/other",
            "--socket", str(running.socket),
        )  # fmt: skip
        assert third.returncode == 1
        assert "already answered by a daemon" in third.stderr
        assert running.cli("root", "status").returncode == 0


def test_the_server_has_no_rights_and_cannot_move_the_agents_files():
    with daemon() as running:
        server = running.pid_of("server")
        assert server is not None
        status = Path(f"/proc/{server}/status").read_text()
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        assert "0" not in fields["Uid"].split()
        assert int(fields["CapEff"], 16) == 0
        assert fields["Groups"].split() in ([], [fields["Gid"].split()[0]])
        uid, gid = int(fields["Uid"].split()[0]), int(fields["Gid"].split()[0])
        moved = subprocess.run(
            ["mv", str(running.state / "agent"), str(running.state / "mine")],
            user=uid, group=gid, extra_groups=[], capture_output=True, check=False,
        )  # fmt: skip
        assert moved.returncode != 0


@pytest.mark.parametrize("part", ["agent", "server"])
def test_a_killed_part_is_started_again(part: str):
    with daemon() as running:
        before = running.pid_of(part)
        assert running.kill(part)
        wait_for(
            lambda: (
                running.pid_of(part) not in (None, before)
                and running.cli("root", "status", check=False).returncode == 0
            ),
            f"the {part} is back",
        )
        assert f"the {part} stopped (signal 9); started again" in running.log()


def test_both_parts_go_with_a_killed_serve():
    with daemon() as running:
        assert running.process is not None
        pids = [running.pid_of("agent"), running.pid_of("server")]
        running.process.kill()
        running.process.wait()
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), "both have ended")
        running.start()


def test_folders_of_the_system_and_of_other_people_are_refused(tmp_path: Path):
    refused = serve("--simulate", "8xA100", "--state", "/etc/rcli-state")
    assert refused.returncode == 1
    assert "folder of the system" in refused.stderr
    os.rmdir("/etc/rcli-state")
    own = tmp_path / "nobody"
    own.mkdir()
    os.chown(own, 65534, 65534)
    refused = serve("--simulate", "8xA100", "--state", str(own))
    assert "does not belong to root" in refused.stderr
    long = serve("--state", "/tmp/" + "x" * 120)
    assert (long.returncode, "Linux allows 107" in long.stderr) == (1, True)
    file = tmp_path / "precious"
    file.write_text("kept")
    taken = serve("--state", str(tmp_path / "s"), "--socket", str(file))
    assert (taken.returncode, "is no socket" in taken.stderr) == (1, True), taken.stderr
    assert file.read_text() == "kept"
    missing = serve("--rules", "/no/such/rules.toml", "--state", str(tmp_path / "s"))
    assert (missing.returncode, "/no/such/rules.toml does not exist" in missing.stderr) == (1, True)


def test_a_part_that_cannot_start_is_not_tried_for_ever(tmp_path: Path):
    open_to_all(tmp_path)
    state = tmp_path / "state"
    state.mkdir()
    (state / "roost.db").write_bytes(b"this is no database " * 100)
    started = time.monotonic()
    done = serve("--simulate", "8xA100", "--state", str(state))
    assert done.returncode == 1
    assert "the server could not start" in done.stderr
    assert time.monotonic() - started < 30


def test_an_ordinary_user_is_served_alone_in_their_own_folders():
    with accounts("ann", prefix="rclu-") as (ann,):
        runtime = ann.home / "run"
        runtime.mkdir(mode=0o700)
        os.chown(runtime, ann.uid, ann.gid)
        env = {
            "HOME": str(ann.home), "USER": ann.name, "PATH": "/usr/local/bin:/usr/bin:/bin",
            "XDG_RUNTIME_DIR": str(runtime), "LC_ALL": "C.UTF-8",
        }  # fmt: skip
        log = (ann.home / "serve.log").open("wb")
        own = subprocess.Popen(
            [readable_python(), "-m", "roost", "serve", "--simulate", "2xRTX4090"], env=env,
            user=ann.uid, group=ann.gid, extra_groups=[], cwd=ann.home, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            roost = Daemon(runtime / "roost")

            def ready() -> bool:
                assert own.poll() is None, (ann.home / "serve.log").read_text()
                text = (ann.home / "serve.log").read_text()
                return "Type next" in text

            wait_for(ready, "the greeting", 30)
            text = (ann.home / "serve.log").read_text()
            assert f"for {ann.name} alone" in text
            assert str(runtime / "roost" / "roost.sock") in text
            typed = {"XDG_RUNTIME_DIR": str(runtime), "ROOST_SOCKET": ""}
            done = roost.cli(ann.name, "run", "--follow", "--", "echo", "mine", environment=typed)
            assert done.stdout == "mine\n"
            assert (ann.home / ".local/state/roost/roost.db").exists()
            assert "RTX 4090" in roost.cli(ann.name, "status", environment=typed).stdout
        finally:
            own.send_signal(signal.SIGTERM)
            own.wait(20)
            log.close()
        assert own.returncode == 0
        wait_for(lambda: not processes_of(ann.uid), "nothing of theirs runs on")


def test_install_into_a_folder_writes_every_file_and_again_changes_nothing(tmp_path: Path):
    def typed(*words: str) -> str:
        done = subprocess.run(
            [readable_python(), "-m", "roost", *words], capture_output=True, text=True, check=True,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
        return done.stdout

    shown = typed("install", "--dry-run", "--root", str(tmp_path))
    assert not any(tmp_path.iterdir())
    pam = tmp_path / "etc/pam.d"
    pam.mkdir(parents=True)
    (pam / "common-auth").write_text("auth required pam_unix.so\n")
    typed("install", "--root", str(tmp_path))
    written = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*"))
    for name in ("roost-agent.service", "roost-server.service", "roost-jobs.service"):
        assert f"etc/systemd/system/{name}" in written
        assert f"{tmp_path}/etc/systemd/system/{name}" in shown
    rules = tmp_path / "etc/roost/rules.toml"
    assert typed("rules", "check", str(rules)).strip().endswith("these rules can be used")
    rules.write_text("# ours\n")
    again = typed("install", "--root", str(tmp_path))
    assert "write " not in again
    assert rules.read_text() == "# ours\n"
    assert "@include common-auth" in (pam / "roost").read_text()
    (pam / "common-auth").unlink()
    typed("uninstall", "--root", str(tmp_path))
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert left == [rules]
    typed("uninstall", "--purge", "--root", str(tmp_path))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
