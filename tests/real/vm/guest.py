"""Runs inside the virtual machine, once a boot, as a unit of its own; standard library only.

Each check prints one JSON line. Three boots: install and use; after the power was cut; after an
orderly reboot, ending with uninstall and power-off. Which boot it is stands in a file on its disk.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from tests.real.fakenvml.state import FakeProcess, FakeState  # noqa: E402

GPUS = 4
ROOST = "/opt/roost/bin/roost"
MEMORY = Path("/var/lib/vm-test")
STATE = MEMORY / "gpus"
UNITS = ("roost-agent.service", "roost-server.service")
DROP_IN = (
    "[Service]\nEnvironment=LD_LIBRARY_PATH=/opt/vm/nvml ROOST_FAKE_NVML=/var/lib/vm-test/gpus\n"
)

# What a job sees of the devices: EPERM is the device filter, ENXIO an allowed node without driver.
LOOK = """\
import errno, json, os, sys
seen = {}
for number in range(4):
    os.close(os.open("/dev/null", os.O_RDWR))
    try:
        os.close(os.open(f"/dev/nvidia{number}", os.O_RDWR))
        seen[number] = "opened"
    except OSError as error:
        seen[number] = errno.errorcode[error.errno]
    try:
        os.mknod(f"/tmp/gpu{number}", 0o600 | 0o020000, os.makedev(195, number))
        seen[f"mknod{number}"] = "made"
    except OSError as error:
        seen[f"mknod{number}"] = errno.errorcode[error.errno]
print(json.dumps({"seen": seen, "uid": os.getuid(), "groups": os.getgroups(),
    "environment": dict(os.environ), "cgroup": open("/proc/self/cgroup").read()}))
"""

# A job that says each time it is started, beats, and ends with 7 when told.
BEAT = """\
echo start $ROOST_RESTART_COUNT >>$HOME/$1.starts
until [ -e $HOME/$1.end ]; do date +%s.%N >$HOME/$1.beat; sleep 0.2; done
exit 7
"""


def report(check: str, ok: bool, **detail: Any) -> None:
    print(json.dumps({"check": check, "ok": ok, **detail}), flush=True)


def run(*command: str, check: bool = False, **options: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **options
    )
    assert not check or done.returncode == 0, f"{command}: {done.returncode} {said(done)}"
    return done


def said(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stdout + done.stderr)[-1500:]


def roost(user: str, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    entry = pwd.getpwnam(user)
    environment = {
        "HOME": entry.pw_dir,
        "USER": user,
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "LC_ALL": "C.UTF-8",
    }
    groups = os.getgrouplist(user, entry.pw_gid)
    return run(
        ROOST, *words, check=check, user=entry.pw_uid, group=entry.pw_gid, extra_groups=groups,
        env=environment, cwd=entry.pw_dir,
    )  # fmt: skip


def roost_json(user: str, *words: str) -> Any:
    return json.loads(roost(user, words[0], "--json", *words[1:]).stdout)


def submit(user: str, *words: str) -> int:
    return int(roost_json(user, "run", *words)["job"])


def job(number: int) -> dict[str, Any]:
    found: dict[str, Any] = roost_json("root", "show", str(number))["jobs"][0]
    return found


def wait_for(condition: Callable[[], Any], what: str, limit_s: float = 40) -> Any:
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        try:
            value = condition()
        except (AssertionError, OSError, ValueError, KeyError):
            value = None
        if value:
            return value
        time.sleep(0.3)
    raise AssertionError(f"not within {limit_s} s: {what}")


def wait_state(number: int, *states: str, limit_s: float = 60) -> dict[str, Any]:
    def reached() -> dict[str, Any] | None:
        found = job(number)
        return found if found["state"] in states else None

    found: dict[str, Any] = wait_for(reached, f"job {number} is {states}", limit_s)
    return found


def answers() -> bool:
    return len(roost_json("alice", "status")["gpus"]) == GPUS


def shown(unit: str, name: str) -> str:
    return run("systemctl", "show", "-P", name, unit).stdout.strip()


def home(user: str) -> Path:
    return Path(pwd.getpwnam(user).pw_dir)


def beats(user: str, name: str) -> bool:
    """Whether the job writes now: a beat younger than this call."""
    began = time.time()
    return bool(
        wait_for(lambda: float((home(user) / f"{name}.beat").read_text()) > began, name, 15)
    )


def make_devices() -> None:
    for number in (*range(GPUS), 255):
        name = "/dev/nvidiactl" if number == 255 else f"/dev/nvidia{number}"
        if not os.path.exists(name):
            os.mknod(name, 0o666 | 0o020000, os.makedev(195, number))
            os.chmod(name, 0o666)


# ---- the first boot


def system() -> None:
    controllers = Path("/sys/fs/cgroup/cgroup.controllers").read_text().split()
    assert {"cpu", "memory", "pids"} <= set(controllers), controllers
    assert Path("/proc/1/comm").read_text().strip() == "systemd"


def dry_run_changes_nothing() -> None:
    done = roost("root", "install", "--dry-run")
    assert "roost-agent.service" in done.stdout, said(done)
    assert not os.path.exists("/etc/systemd/system/roost-agent.service"), "a unit was written"
    assert run("getent", "passwd", "roost").returncode != 0, "the account was made"


def install() -> None:
    for unit in UNITS:
        folder = Path(f"/etc/systemd/system/{unit}.d")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "vm.conf").write_text(DROP_IN)
    roost("root", "install")
    assert pwd.getpwnam("roost").pw_uid < 1000
    assert os.path.exists("/etc/roost/rules.toml")
    for unit in UNITS:
        assert run("systemctl", "is-enabled", unit).stdout.strip() == "enabled", unit
    wait_for(answers, "the daemon answers", 240)


def units_are_tight() -> None:
    for unit in UNITS:
        assert shown(unit, "ActiveState") == "active", unit
    assert shown("roost-server.service", "User") == "roost"
    assert shown("roost-server.service", "NoNewPrivileges") == "yes"
    assert shown("roost-agent.service", "Delegate") == "yes"
    assert shown("roost-agent.service", "KillMode") == "process"
    server = shown("roost-server.service", "MainPID")
    fields = Path(f"/proc/{server}/status").read_text()
    assert f"Uid:\t{pwd.getpwnam('roost').pw_uid}\t" in fields, fields
    assert "CapEff:\t0000000000000000" in fields, fields


def job_is_walled_in() -> None:
    program = home("alice") / "look.py"
    program.write_text(LOOK)
    output = home("alice") / "look.out"
    number = submit("alice", "-g", "1", "--mem", "256M", "-o", str(output), "--",
                    "/usr/bin/python3", str(program))  # fmt: skip
    ended = wait_state(number, "COMPLETED", "FAILED", "CANCELLED")
    assert ended["state"] == "COMPLETED", (ended, output.read_text())
    seen = json.loads(output.read_text())
    held = ended["gpus"]
    assert len(held) == 1
    index = {gpu["uuid"]: gpu["index"] for gpu in roost_json("alice", "status")["gpus"]}[held[0]]
    devices = seen["seen"]
    for gpu in range(GPUS):
        if gpu == index:
            assert devices[str(gpu)] == "ENXIO", devices
        else:
            assert devices[str(gpu)] in ("EPERM", "ENOENT"), devices
        assert devices[f"mknod{gpu}"] == "EPERM", devices
    assert seen["environment"]["CUDA_VISIBLE_DEVICES"] == held[0], seen["environment"]
    assert seen["uid"] == pwd.getpwnam("alice").pw_uid
    assert "roost" in seen["cgroup"], seen["cgroup"]
    assert output.stat().st_uid == pwd.getpwnam("alice").pw_uid


def filter_refuses_without_private_dev() -> None:
    """The wall is the filter on the cgroup, not the private /dev: seen from the outside."""
    start_beating("alice", "walled", "-g", "1", "--mem", "300M")
    beats("alice", "walled")
    pid = int(run("pgrep", "-u", "alice", "-f", "walled", check=True).stdout.split()[0])
    group = Path(f"/proc/{pid}/cgroup").read_text().strip().split("::")[1]
    folder = Path(f"/sys/fs/cgroup{group}")
    assert (folder / "memory.max").read_text().strip() == str(300 << 20), group
    assert "roost" in group, group
    probe = f"echo $$ >{folder}/cgroup.procs; exec /usr/bin/python3 -c '{PROBE}'"
    done = run("/bin/sh", "-c", probe, check=True)
    found = json.loads(done.stdout)
    assert sorted(found.values()) == ["ENXIO", "EPERM", "EPERM", "EPERM"], found


PROBE = """
import errno, json, os
found = {}
for number in range(4):
    try: os.close(os.open(f"/dev/nvidia{number}", os.O_RDWR))
    except OSError as error: found[number] = errno.errorcode[error.errno]
print(json.dumps(found))
"""


def memory_limit_ends_the_job() -> None:
    number = submit("bob", "-g", "1", "--mem", "64M", "-o", "/dev/null", "--",
                    "/usr/bin/python3", "-c", "b = bytearray(400 << 20)")  # fmt: skip
    ended = wait_state(number, "OUT_OF_MEMORY", "FAILED", "COMPLETED")
    assert ended["state"] == "OUT_OF_MEMORY", ended


@contextlib.contextmanager
def devices_that_open() -> Iterator[Path]:
    """Stand-in GPU nodes that a process can really hold open: no driver answers for real ones.

    The agent is told of them for as long as this lasts; only what it sees goes by them.
    """
    folder = MEMORY / "dev"
    folder.mkdir()
    for number in range(GPUS):
        os.mknod(folder / f"nvidia{number}", 0o666 | 0o020000, os.makedev(1, 5))
        (folder / f"nvidia{number}").chmod(0o666)
    drop_in = Path("/etc/systemd/system/roost-agent.service.d/devices.conf")
    drop_in.write_text(f"[Service]\nEnvironment=ROOST_DEVICE_DIR={folder} ROOST_DEVICE_MAJORS=1\n")
    try:
        run("systemctl", "daemon-reload", check=True)
        run("systemctl", "restart", "roost-agent.service", check=True)
        yield folder
    finally:
        drop_in.unlink()
        run("systemctl", "daemon-reload", check=True)
        run("systemctl", "restart", "roost-agent.service", check=True)


def login_session_is_named() -> None:
    """A person at a login shell, without a job: `who` names the session."""
    with devices_that_open() as folder:
        program = f"import time; file = open('{folder}/nvidia3', 'rb'); time.sleep(600)"
        login = subprocess.Popen(
            ["su", "-l", "bob", "-c", f'exec /usr/bin/python3 -c "{program}"'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            bob_is_named()
        finally:
            FakeState.of("A100-80", GPUS).write(STATE)
            for pid in run("pgrep", "-u", "bob", "-f", "time.sleep").stdout.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            login.wait(20)


def bob_is_named() -> None:
    def asleep() -> int | None:
        for pid in run("pgrep", "-u", "bob", "-f", "time.sleep").stdout.split():
            if "session-" in Path(f"/proc/{pid}/cgroup").read_text():
                return int(pid)
        return None

    pid = wait_for(asleep, "logind made a session for the login shell")
    state = FakeState.of("A100-80", GPUS)
    state.gpus[3].processes = [FakeProcess.of(pid, 2 << 30)]
    state.write(STATE)

    def named() -> dict[str, Any] | None:
        for holder in roost_json("alice", "who")["holders"]:
            if holder["pid"] == pid:
                return dict(holder)
        return None

    try:
        holder = wait_for(named, "who shows the process")
    except AssertionError as error:
        raise AssertionError(f"{error}: {roost('alice', 'who').stdout}") from error
    assert holder["user"] == "bob", holder
    assert holder["gpu_index"] == 3, holder
    assert holder["kind"] == "session", holder


def start_beating(user: str, name: str, *words: str) -> int:
    script = home(user) / "beat.sh"
    script.write_text(BEAT)
    for old in home(user).glob(f"{name}.*"):
        old.unlink()
    return submit(user, *words, "-n", name, "-o", "/dev/null", "--", "/bin/sh", str(script), name)


def what_runs(user: str) -> str:
    return run("ps", "-u", user, "-o", "pid,ppid,lstart,args", "--no-headers").stdout


def starts(user: str, name: str) -> list[str]:
    return (home(user) / f"{name}.starts").read_text().split("\n")[:-1]


def end(user: str, name: str) -> None:
    path = home(user) / f"{name}.end"
    path.touch()


def job_outlives_restarts_and_kills() -> None:
    number = start_beating("alice", "tough", "-g", "1")
    beats("alice", "tough")
    for what in ("kill agent", "restart", "kill both"):
        if what == "restart":
            run("systemctl", "restart", *UNITS, check=True)
        for unit in UNITS:
            part = unit.removeprefix("roost-").removesuffix(".service")
            if what in (f"kill {part}", "kill both"):
                os.kill(int(shown(unit, "MainPID")), signal.SIGKILL)
        assert beats("alice", "tough"), what
        wait_for(answers, f"the daemon answers after {what}", 240)
        assert job(number)["state"] == "RUNNING", (what, job(number))
    end("alice", "tough")
    ended = wait_state(number, "FAILED", "COMPLETED", "NODE_FAIL")
    assert (ended["state"], ended["exit_code"]) == ("FAILED", 7), ended
    assert starts("alice", "tough") == ["start 0"], starts("alice", "tough")


def walled_job_is_cancelled_whole() -> None:
    number = next(j["job"] for j in roost_json("alice", "jobs")["jobs"] if j["name"] == "walled")
    roost("alice", "cancel", str(number))
    wait_state(number, "CANCELLED")
    left = run("pgrep", "-u", "alice", "-f", "walled").stdout
    assert not left, left


def leave_jobs_behind() -> None:
    """Three jobs for the next boot: one to be lost, one to be queued again, one that waits."""
    lost = start_beating("alice", "lost", "-g", "2", "--no-requeue")
    again = start_beating("bob", "again", "-g", "2")
    waiting = submit("bob", "-g", "4", "-n", "waiting", "-o", "/dev/null", "--", "true")
    beats("alice", "lost")
    beats("bob", "again")
    (MEMORY / "jobs").write_text(json.dumps({"lost": lost, "again": again, "waiting": waiting}))


# ---- after the power was cut


def services_come_by_themselves() -> None:
    wait_for(answers, "the daemon answers after the boot", 240)


def lost_job_is_node_fail() -> None:
    numbers = json.loads((MEMORY / "jobs").read_text())
    ended = wait_state(numbers["lost"], "NODE_FAIL", "FAILED", "COMPLETED", "CANCELLED")
    assert ended["state"] == "NODE_FAIL", ended
    assert starts("alice", "lost") == ["start 0"]
    assert what_runs("alice") == "", what_runs("alice")


def requeued_job_runs_again() -> None:
    numbers = json.loads((MEMORY / "jobs").read_text())
    wait_state(numbers["again"], "RUNNING")
    beats("bob", "again")
    assert starts("bob", "again") == ["start 0", "start 1"], starts("bob", "again")
    assert job(numbers["waiting"])["state"] == "PENDING"


def orderly_reboot_leaves_jobs() -> None:
    """bob's job runs on into the reboot; a second of alice's that must not come back."""
    numbers = json.loads((MEMORY / "jobs").read_text())
    urgent = ("--class", "urgent")  # or it would wait behind the one that wants all GPUs
    numbers["lost"] = start_beating("alice", "lost", "-g", "1", "--no-requeue", *urgent)
    beats("alice", "lost")
    (MEMORY / "jobs").write_text(json.dumps(numbers))


# ---- after an orderly reboot


def jobs_after_an_orderly_reboot() -> None:
    numbers = json.loads((MEMORY / "jobs").read_text())
    ended = wait_state(numbers["lost"], "NODE_FAIL", "FAILED", "COMPLETED", "CANCELLED")
    assert ended["state"] == "NODE_FAIL", ended
    assert starts("alice", "lost") == ["start 0"], (starts("alice", "lost"), what_runs("alice"))
    assert what_runs("alice") == "", (what_runs("alice"), ended)
    wait_state(numbers["again"], "RUNNING")
    beats("bob", "again")
    assert starts("bob", "again") == ["start 0", "start 1", "start 2"], starts("bob", "again")
    end("bob", "again")
    ended = wait_state(numbers["again"], "FAILED", "COMPLETED")
    assert ended["exit_code"] == 7, ended
    assert wait_state(numbers["waiting"], "COMPLETED", "FAILED")["state"] == "COMPLETED"


def uninstall_leaves_nothing() -> None:
    done = roost("root", "uninstall", "--purge")
    for unit in UNITS:
        (drop_in := Path(f"/etc/systemd/system/{unit}.d/vm.conf")).unlink(missing_ok=True)
        if drop_in.parent.exists():
            drop_in.parent.rmdir()
    run("systemctl", "daemon-reload")
    left = [
        path
        for folder in ("/etc", "/var/lib", "/var/log", "/run", "/usr/local", "/usr/share")
        for path in map(str, Path(folder).rglob("*roost*"))
        if "vm" not in path and not path.startswith("/run/systemd/")
    ]
    assert not left, (left, said(done))
    assert run("getent", "passwd", "roost").returncode != 0, "the account is still there"
    assert run("pgrep", "-u", "alice").stdout == ""
    agents = run("pgrep", "-af", ROOST).stdout
    assert not agents, agents
    groups = [str(path) for path in Path("/sys/fs/cgroup").rglob("*roost*") if path.is_dir()]
    assert [group for group in groups if "roost-vm" not in group] == [], groups


BOOTS: dict[str, tuple[Callable[[], None], ...]] = {
    "install": (
        system,
        dry_run_changes_nothing,
        install,
        units_are_tight,
        job_is_walled_in,
        filter_refuses_without_private_dev,
        memory_limit_ends_the_job,
        login_session_is_named,
        job_outlives_restarts_and_kills,
        walled_job_is_cancelled_whole,
        leave_jobs_behind,
    ),
    "after the power was cut": (
        services_come_by_themselves,
        lost_job_is_node_fail,
        requeued_job_runs_again,
        orderly_reboot_leaves_jobs,
    ),
    "after an orderly reboot": (
        services_come_by_themselves,
        jobs_after_an_orderly_reboot,
        uninstall_leaves_nothing,
    ),
}


# Where one of these fails, the rest of the boot would only wait for what cannot come.
NEEDED = (system, install, services_come_by_themselves)


def perform(boot: str, check: Callable[[], None]) -> bool:
    name = f"{boot}: {check.__name__}"
    began = time.monotonic()
    try:
        check()
    except Exception as error:  # noqa: BLE001  # whatever it is, the host is to hear of it
        journal = run("journalctl", "-b", "--no-pager", "-n", "40", "-o", "cat", "-u", "roost-*")
        report(name, False, error=str(error)[-3000:], journal=journal.stdout[-3000:],
               trace=traceback.format_exc()[-1500:])  # fmt: skip
        return False
    report(name, True, seconds=round(time.monotonic() - began, 1))
    return True


def main() -> None:
    MEMORY.mkdir(exist_ok=True)
    memory = MEMORY / "boot"
    number = int(memory.read_text()) if memory.exists() else 0
    boot = list(BOOTS)[number]
    memory.write_text(str(number + 1))
    if not STATE.exists():
        FakeState.of("A100-80", GPUS).write(STATE)
    MEMORY.chmod(0o755)
    for check in BOOTS[boot]:
        if not perform(boot, check) and check in NEEDED:
            run("systemctl", "poweroff")
            return
    report(f"{boot}: end", True)
    os.sync()
    if number == 0:
        Path("/proc/sysrq-trigger").write_text("b")
    run("systemctl", "reboot" if number + 1 < len(BOOTS) else "poweroff")


if __name__ == "__main__":
    make_devices()
    main()
