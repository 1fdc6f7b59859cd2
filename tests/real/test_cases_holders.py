"""Who holds a card and who may, at the daemon: ignored, stale, hand-started, stray, shared use."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator

import pytest

from tests.real import rig
from tests.real.cases_rig import ZH, Server, served
from tests.real.who_rig import GIB, HOLD, MIB, PYTHON

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts and device nodes"),
]
RULES = """operators = []
shared_gpus = ["0"]
[classes.background]
grace = "2s"
[[ignore]]
command = "Xorg"
below = "200M"
[[ignore]]
user = "cs-hol-watch"
"""
ONE_FILE = HOLD.replace("sys.argv[1:]", "[sys.argv[1]]")
People = tuple[rig.Account, rig.Account, rig.Account]


@pytest.fixture(scope="module")
def people() -> Iterator[People]:
    with rig.accounts("ann", "ben", "watch", prefix="cs-hol-") as (ann, ben, watch):
        yield ann, ben, watch


@pytest.fixture(scope="module")
def module_server(people: People) -> Iterator[Server]:
    with served(rules=RULES) as made:
        yield made


@pytest.fixture
def server(module_server: Server) -> Iterator[Server]:
    """The same daemon for all; every test leaves four empty cards and no job."""
    yield module_server
    roost = module_server.roost
    for job in roost.json("root", "jobs")["jobs"]:
        roost.cli("root", "cancel", str(job["job"]), check=False)  # it may just have ended
    module_server.processes.close()
    module_server.processes = type(module_server.processes)()
    for gpu in module_server.state.gpus:
        gpu.processes = []
        gpu.values |= {"utilisation": 0}
    module_server.write()
    rig.wait_for(lambda: not roost.json("root", "jobs")["jobs"], "no job is left")
    try:
        rig.wait_for(lambda: not roost.json("root", "who")["holders"], "nobody holds anything")
    except AssertionError:
        raise AssertionError(roost.json("root", "who")) from None


def row_of(server: Server, pid: int, with_memory: bool = False) -> dict[str, object]:
    """Its row of `roost who`, waited for; with the memory that only a later look may tell."""

    def look() -> dict[str, object] | None:
        rows = server.roost.json("root", "who")["holders"]
        mine = [row for row in rows if row["pid"] == pid]
        return next((row for row in mine if row["memory_bytes"] or not with_memory), None)

    return dict(rig.wait_for(look, f"process {pid} is listed"))


def test_a_desktop_and_a_monitor_are_shown_and_occupy_nothing(
    server: Server, people: People
) -> None:
    ann, ben, watch = people
    xorg, _ = server.processes.run(
        HOLD, server.node(0), prefix=["/bin/bash", "-c", 'exec -a /usr/lib/xorg/Xorg "$@"', "x"]
    )
    server.put(0, xorg.pid, 150 * MIB, "G")
    monitor, _ = server.processes.run(HOLD, server.node(1), uid=watch.uid)
    server.put(1, monitor.pid, 900 * MIB)
    big, _ = server.processes.run(
        HOLD, server.node(2), uid=ben.uid,
        prefix=["/bin/bash", "-c", 'exec -a /usr/lib/xorg/Xorg "$@"', "x"],
    )  # fmt: skip
    server.put(2, big.pid, 300 * MIB)
    rows = [row_of(server, pid) for pid in (xorg.pid, monitor.pid, big.pid)]
    assert [(row["ignored"], row["right"]) for row in rows[:2]] == [
        (True, "ignored by the rules")
    ] * 2
    assert (rows[2]["ignored"], rows[2]["lawful"]) == (False, False), "larger than the rule says"
    said = server.roost.cli(ann.name, "status").stdout
    assert "3 of 4 GPUs free" in said
    assert re.search(r"free; root Xorg \d+s, ignored\n", said)
    assert re.search(rf"free; {watch.name} python3 \d+s, ignored\n", said)
    number = server.roost.run(ann.name, "-g", "3", "--", "sleep", "60")
    assert server.roost.wait_state(number, "RUNNING")["gpu_indices"] == [0, 1, 3]
    waiting = server.roost.run(ann.name, "-g", "1", "--", "true")
    why = server.roost.cli(ann.name, "why", str(waiting)).stdout
    assert "GPU 2 in use by processes outside the queue (300 MiB): roost who shows whose" in why


def test_a_stale_process_is_named_with_age_owner_and_the_one_command(
    server: Server, people: People
) -> None:
    _, ben, _ = people
    stale, _ = server.processes.run(HOLD, server.node(3), uid=ben.uid)
    server.put(3, stale.pid, 642 * MIB)
    row_of(server, stale.pid)
    time.sleep(2)
    row = row_of(server, stale.pid)
    assert (row["user"], row["memory_bytes"], row["lawful"]) == (ben.name, 642 * MIB, False)
    assert isinstance(row["idle_s"], float)
    assert row["idle_s"] >= 1
    assert row["since"]
    assert row["free"] == "roost free 3"
    done = server.roost.cli(ben.name, "free", "3", "--yes", "--grace", "2s", check=False)
    assert f"{stale.pid}" in done.stdout
    assert stale.poll() is not None or stale.wait(5) is not None


def test_promises_count_although_no_job_has_allocated_yet(server: Server, people: People) -> None:
    """32 jobs of 19 GiB come at once to a shared card of 80 GiB that says that all is free."""
    ann, *_ = people
    server.roost.cli(
        ann.name, "run", "--gpu-mem", "19G", "--array", "0-31", "--output", "/dev/null",
        "--", "sleep", "60",
    )  # fmt: skip

    def states() -> list[str]:
        return [job["state"] for job in server.roost.json("root", "jobs")["jobs"]]

    rig.wait_for(lambda: states().count("RUNNING") == 4, "four fit")
    time.sleep(1.5)
    assert (states().count("RUNNING"), states().count("PENDING")) == (4, 28)


def test_memory_that_is_really_used_counts_beside_the_promises(
    server: Server, people: People
) -> None:
    ann, ben, _ = people
    served_by_hand, _ = server.processes.run(HOLD, server.node(0), uid=ben.uid)
    server.put(0, served_by_hand.pid, 60 * GIB)
    for index in (1, 2, 3):
        other, _ = server.processes.run(HOLD, server.node(index), uid=ben.uid)
        server.put(index, other.pid, 60 * GIB)
    rig.wait_for(lambda: len(server.roost.json("root", "who")["holders"]) == 4, "all are seen")
    time.sleep(1)
    small = server.roost.run(ann.name, "--gpu-mem", "10G", "--", "sleep", "60")
    large = server.roost.run(ann.name, "--gpu-mem", "30G", "--", "true")
    whole = server.roost.run(ann.name, "-g", "1", "--", "true")
    server.roost.wait_state(small, "RUNNING")
    time.sleep(1)
    assert server.roost.job(large)["state"] == server.roost.job(whole)["state"] == "PENDING"
    assert "30 GiB" in server.roost.cli(ann.name, "why", str(large)).stdout
    why = server.roost.cli(ann.name, "why", str(whole)).stdout
    assert "GPU 1, 2, 3 in use by processes outside the queue (180 GiB)" in why
    server.processes.close()
    for index in range(4):
        server.take(index)
    server.roost.wait_state(large, "COMPLETED")
    server.roost.wait_state(whole, "COMPLETED")


@pytest.mark.parametrize("rule", ["warn", "stop", "ignore"])
def test_a_job_that_sets_its_own_device_is_noticed_told_and_by_rule_stopped(
    server: Server, people: People, rule: str
) -> None:
    """Nothing walls the other card off here: stand-in nodes pass the device filter."""
    ann, *_ = people
    server.rules(f'operators = []\nstray_gpu_use = "{rule}"\n[classes.regular]\ngrace = "1s"\n')
    number = server.roost.run(
        ann.name, "-g", "1", "--", "env", "CUDA_VISIBLE_DEVICES=3", PYTHON, "-c", ONE_FILE,
        server.node(3),
    )  # fmt: skip
    given = server.roost.wait_state(number, "RUNNING")["gpu_indices"]
    assert given != [3]
    pid = server.opener(ann.uid, server.node(3))
    server.put(3, pid, GIB)
    row = row_of(server, pid, with_memory=True)
    assert (row["job"], row["lawful"]) == (number, False)
    assert row["right"] == f"no right: job {number} was not given GPU 3"
    told = "it uses GPU 3, which it was not given: use CUDA_VISIBLE_DEVICES as Roost sets it"
    stopped = "stopped because it used GPU 3, which it was not given (rules: stray_gpu_use)"
    audit = server.roost.json(ann.name, "audit", "log", "--limit", "1")["audit"]
    if rule == "warn":
        rig.wait_for(lambda: server.roost.job(number)["text"] == told, "the job's owner is told")
        assert server.roost.job(number)["state"] == "RUNNING"
        assert "未分配给它的 GPU 3" in server.roost.cli(
            ann.name, "show", str(number), environment=ZH
        ).stdout  # fmt: skip
        audit = server.roost.json(ann.name, "audit", "log", "--limit", "1")["audit"]
        assert (audit[0]["action"], audit[0]["outcome"]) == ("stray_gpu_use", "warned")
    elif rule == "stop":
        job = server.roost.wait_state(number, "CANCELLED")
        assert job["text"] == stopped
        audit = server.roost.json(ann.name, "audit", "log", "--limit", "1")["audit"]
        assert (audit[0]["action"], audit[0]["outcome"]) == ("stray_gpu_use", "stopped")
    else:
        time.sleep(2)
        assert server.roost.job(number)["state"] == "RUNNING"
        assert not server.roost.job(number)["text"]
        after = server.roost.json(ann.name, "audit", "log", "--limit", "1")["audit"]
        assert [each["subject"] for each in after] == [each["subject"] for each in audit]
    server.rules(RULES)


def test_two_on_one_card_a_part_of_nobody_and_a_gap_are_each_shown(
    server: Server, people: People
) -> None:
    """Energy of GPU 2 is ann's and ben's by 3 to 1; GPU 3 works for nobody that is known."""
    ann, ben, _ = people
    roost = server.roost
    before = joules(server)
    for account, memory in ((ann, 30 * GIB), (ben, 10 * GIB)):
        process, _ = server.processes.run(HOLD, server.node(2), uid=account.uid)
        server.put(2, process.pid, memory)
    server.state.gpus[2].values |= {"utilisation": 80, "power_mw": 300_000, "energy_mj": None}
    server.state.gpus[3].values |= {
        "utilisation": 80, "power_mw": 300_000, "energy_mj": None, "memory_used": 5 * GIB,
    }  # fmt: skip
    server.write()

    def counted() -> dict[tuple[int, str | None], float] | None:
        now = joules(server)
        spent = {key: value - before.get(key, 0.0) for key, value in now.items()}
        return spent if spent.get((2, ben.name), 0) > 200 else None

    spent = rig.wait_for(counted, "the ledger has it", 40, every_s=0.5)
    assert spent[2, ann.name] == pytest.approx(3 * spent[2, ben.name], rel=0.02)
    assert spent[3, None] > 200
    assert not any(index == 3 and user for (index, user), value in spent.items() if value > 0)
    reserve = [r for r in roost.json("root", "usage")["usage"] if r["user"] is None]
    idle = [r["gb_s"] for r in reserve if r["gpu_uuid"] == server.state.gpus[1].uuid]
    assert sum(idle) == 0, "the driver's reserve is charged to nobody, not even as unattributed"

    server.state.gpus[3].values.pop("memory_used")
    server.write()
    stopped_at = time.time()
    roost.stop()
    time.sleep(7)
    roost.start()
    gaps = rig.wait_for(lambda: roost.json(ann.name, "usage")["gaps"], "the gap", 30)
    assert len(gaps) == 1
    assert 6 < gaps[0]["seconds"] < time.time() - stopped_at + 5
    said = roost.cli(ann.name, "usage").stdout
    assert "not observed from" in said
    assert "unattributed" in said
    assert "split by the memory of their processes" in said
    chinese = roost.cli(ann.name, "usage", environment=ZH).stdout
    assert "没有观测" in chinese
    assert "无主" in chinese


def joules(server: Server) -> dict[tuple[int, str | None], float]:
    """Energy so far by card and person."""
    index = {gpu.uuid: number for number, gpu in enumerate(server.state.gpus)}
    found: dict[tuple[int, str | None], float] = {}
    for row in server.roost.json("root", "usage")["usage"]:
        key = (index[row["gpu_uuid"]], row["user"])
        found[key] = found.get(key, 0.0) + row["joules"]
    return found
