"""Cards and drivers that fail under the whole daemon: said in words, and the queue goes on."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real import rig
from tests.real.cases_rig import ZH, Server, served
from tests.real.fakenvml.state import FakeGpu
from tests.real.who_rig import GIB, HOLD

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts and device nodes"),
]
OK = ["ok"] * 4


@pytest.fixture(scope="module")
def people() -> Iterator[tuple[rig.Account, rig.Account]]:
    with rig.accounts("ann", "ben", prefix="cs-drv-") as (ann, ben):
        yield ann, ben


@pytest.fixture(scope="module")
def module_server(people: tuple[rig.Account, rig.Account]) -> Iterator[Server]:
    with served() as made:
        yield made


@pytest.fixture
def server(module_server: Server) -> Iterator[Server]:
    """The same daemon for all; every test leaves four cards that are in order, and no job."""
    yield module_server
    roost = module_server.roost
    for job in roost.json("root", "jobs")["jobs"]:
        roost.cli("root", "cancel", str(job["job"]))
    rig.wait_for(lambda: not roost.json("root", "jobs")["jobs"], "no job is left")
    module_server.until(OK)


def test_a_lost_card_says_so_the_queue_goes_on_and_it_comes_back(
    server: Server, people: tuple[rig.Account, rig.Account]
) -> None:
    roost, (ann, ben) = server.roost, people
    running = roost.run(ann.name, "-g", "1", "--", "sleep", "300")
    held = roost.wait_state(running, "RUNNING")["gpu_indices"]
    lost = next(index for index in range(4) if index not in held)
    server.state.gpus[lost].errors = ["* GPU_IS_LOST"]
    server.write()
    rig.wait_for(lambda: server.health()[lost] == "lost", "the card is lost")

    said = roost.cli(ann.name, "status").stdout
    assert said.count("LOST from the bus") == 1
    assert "2 of 4 GPUs free" in said
    assert "已从总线掉线" in roost.cli(ann.name, "status", environment=ZH).stdout
    big = roost.run(ann.name, "-g", "3", "--", "true")
    why = roost.cli(ann.name, "why", str(big)).stdout
    assert f"1 GPU cannot be used (GPU {lost}: lost from the bus)" in why
    small = roost.run(ben.name, "-g", "1", "--time", "1m", "--", "true")
    roost.cli(ann.name, "cancel", str(big))
    assert roost.wait_state(small, "COMPLETED")["gpu_indices"] != [lost]

    again = roost.run(ann.name, "-g", "3", "--", "true")
    server.state.gpus[lost].errors = []
    server.write()
    roost.wait_state(again, "COMPLETED")
    assert roost.job(running)["state"] == "RUNNING"


def test_a_driver_updated_under_jobs_is_a_reboot_that_is_needed_with_who_is_concerned(
    server: Server, people: tuple[rig.Account, rig.Account]
) -> None:
    roost, (ann, ben) = server.roost, people
    running = roost.run(ann.name, "-g", "1", "--", "sleep", "300")
    held = roost.wait_state(running, "RUNNING")["gpu_indices"][0]
    by_hand, _ = server.processes.run(HOLD, server.node(3), uid=ben.uid)
    server.put(3, by_hand.pid, GIB)
    rig.wait_for(
        lambda: any(r["pid"] == by_hand.pid for r in roost.json("root", "who")["holders"]), "ben"
    )
    server.state.errors = ["Init LIB_RM_VERSION_MISMATCH"]
    server.state.epoch += 1
    server.write()
    rig.wait_for(
        lambda: roost.json("root", "status")["driver_state"] == "version_mismatch", "the mismatch"
    )

    answer = roost.json(ann.name, "status")
    assert answer["reboot_needed"] is True
    assert all(gpu["memory_used_bytes"] is None for gpu in answer["gpus"]), "unknown, never 0"
    said = roost.cli(ann.name, "status").stdout
    plain = " ".join(said.split())
    assert "REBOOT NEEDED: The NVIDIA library and the loaded kernel driver are of" in plain
    assert f"{ann.name} job {running} (GPU {held})" in plain
    assert f"{ben.name} python3 (GPU 3)" in plain
    assert "需要重启" in roost.cli(ann.name, "status", environment=ZH).stdout
    waiting = roost.run(ann.name, "-g", "1", "--", "true")
    why = roost.cli(ann.name, "why", str(waiting)).stdout
    assert "the driver was updated, a reboot is needed" in why
    row = next(r for r in roost.json("root", "who")["holders"] if r["job"] == running)
    assert row["memory_bytes"] is None

    server.state.errors = []
    server.take(3)
    by_hand.kill()
    roost.wait_state(waiting, "COMPLETED")
    assert roost.job(running)["state"] == "RUNNING"
    assert roost.json(ann.name, "status")["reboot_needed"] is False


def test_a_reload_of_the_driver_is_taken_up_by_itself(
    server: Server, people: tuple[rig.Account, rig.Account]
) -> None:
    roost, (ann, _) = server.roost, people
    running = roost.run(ann.name, "-g", "1", "--", "sleep", "300")
    roost.wait_state(running, "RUNNING")
    server.state.errors = ["* DRIVER_NOT_LOADED"]
    server.state.epoch += 1
    server.write()
    rig.wait_for(
        lambda: roost.json("root", "status")["driver_state"] in ("not_loaded", "reloading"), "gone"
    )
    waiting = roost.run(ann.name, "-g", "1", "--", "true")
    without = roost.cli(ann.name, "who", check=False)
    assert (without.returncode, ann.name in without.stdout) == (0, True)
    server.state.errors = []
    server.write()
    roost.wait_state(waiting, "COMPLETED")
    assert roost.job(running)["state"] == "RUNNING"


def test_release_lets_go_of_the_driver_and_hold_takes_it_up_again(
    server: Server, people: tuple[rig.Account, rig.Account]
) -> None:
    roost, (ann, _) = server.roost, people
    library = b"libnvidia-ml.so"
    running = roost.run(ann.name, "-g", "1", "--", "sleep", "300")
    roost.wait_state(running, "RUNNING")

    def users_of_the_driver() -> list[int]:
        """Processes under this `roost serve` that have NVML mapped."""
        found, parents = [], {roost.process.pid if roost.process else 0}
        for pid in sorted(int(entry) for entry in os.listdir("/proc") if entry.isdigit()):
            try:
                stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
                maps = Path(f"/proc/{pid}/maps").read_bytes()
            except OSError:
                continue
            if int(stat.rpartition(")")[2].split()[1]) in parents:
                parents.add(pid)
                if library in maps:
                    found.append(pid)
        return found

    assert users_of_the_driver()
    assert roost.cli(ann.name, "driver", "release", check=False).returncode == 4
    roost.cli("root", "driver", "release")
    assert users_of_the_driver() == [], "nothing keeps a card from being reset"
    rig.wait_for(lambda: roost.json("root", "status")["driver_state"] == "released", "it is said")
    assert "Roost has let go of the driver" in roost.cli(ann.name, "status").stdout
    waiting = roost.run(ann.name, "-g", "1", "--", "true")
    assert "Roost has let go of the driver" in roost.cli(ann.name, "why", str(waiting)).stdout
    roost.cli("root", "driver", "hold")
    roost.wait_state(waiting, "COMPLETED")
    assert roost.job(running)["state"] == "RUNNING"


def test_a_replaced_card_has_a_history_of_its_own(
    server: Server, people: tuple[rig.Account, rig.Account]
) -> None:
    """Index 3 is another card afterwards; what ran before stays with the card that it ran on."""
    roost, (ann, _) = server.roost, people
    old = server.state.gpus[3]
    first = roost.run(ann.name, "-g", "4", "--", "sleep", "1")
    assert old.uuid in roost.wait_state(first, "COMPLETED")["gpus"]
    new = FakeGpu.of("H100-80", 3)
    server.state.gpus[3] = new
    server.state.epoch += 1
    server.write()
    rig.wait_for(
        lambda: new.uuid in {g["uuid"] for g in roost.json("root", "status")["gpus"]}, "the new one"
    )
    second = roost.run(ann.name, "-g", "1", "--gpu-model", "H100", "--", "sleep", "1")
    assert roost.wait_state(second, "COMPLETED")["gpus"] == [new.uuid]
    assert old.uuid in roost.job(first)["gpus"]
    assert new.uuid not in roost.job(first)["gpus"]
    rows = roost.json(ann.name, "usage")["usage"]
    jobs = {(row["gpu_uuid"], row["job"]) for row in rows if row["held_s"] > 0}
    assert {(old.uuid, first), (new.uuid, second)} <= jobs
    assert (new.uuid, first) not in jobs
    assert (old.uuid, second) not in jobs
    gone = [g for g in roost.json("root", "status")["gpus"] if g["uuid"] == old.uuid]
    assert [g["health"] for g in gone] == ["missing"]
    assert "of 4 GPUs free" in roost.cli("root", "status").stdout
    server.state.gpus[3] = old
    server.state.epoch += 1
    server.write()
    rig.wait_for(
        lambda: (
            {g["uuid"]: g["health"] for g in roost.json("root", "status")["gpus"]}.get(old.uuid)
            == "ok"
        ),
        "the old card is back",
    )
    # The other one is away now; a restart forgets cards that were taken out.
    roost.stop()
    roost.start()


def test_a_driver_that_hangs_keeps_nobody_waiting_for_an_answer(
    server: Server, people: tuple[rig.Account, rig.Account]
) -> None:
    roost, (ann, _) = server.roost, people
    server.state.gpus[2].hangs = ["*"]
    server.write()
    rig.wait_for(lambda: server.health()[2] == "not_answering", "the card hangs", 30)
    began = time.monotonic()
    assert "does not answer" in roost.cli(ann.name, "status").stdout
    assert time.monotonic() - began < 3
    number = roost.run(ann.name, "-g", "1", "--", "true")
    assert roost.wait_state(number, "COMPLETED")["gpu_indices"] != [2]
    server.state.gpus[2].hangs = []
    server.write()
    # It comes back by itself, which takes half a minute (tests/machine/nvml/test_hangs.py).
    roost.stop()
    roost.start()
