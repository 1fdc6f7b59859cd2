"""Memory without an owner: the right one of 22 reasons, and words for each in both languages."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.attribution import Known, Memory, Reason, attribute, who_rows
from roost.core.attribution.model import Sure
from roost.core.observation import GpuReading, GpuState, Observation, Place, ProcessFacts
from roost.core.text.attribution import MESSAGES
from tests.core.attribution.pictures import (
    GIB,
    MIB,
    claim,
    explain,
    former,
    gpu,
    hold_sums,
    picture,
    process,
    seen,
)

UVM = ("/dev/nvidia-uvm",)
CONTAINER = Place(container_id="c" * 64, container_engine="docker")

CASES: list[tuple[str, Observation, str]] = [
    (
        "v1 figures count the reserve as used",
        seen(gpu(0, 600 * MIB, memory_reserved_bytes=None)),
        "-=600(driver_reserved)",
    ),
    (
        "a little beside a context",
        seen(gpu(0, GIB + 90 * MIB, claim(100)), process(100, "alice", 0)),
        "alice:100=1024 -=90(context_overhead)",
    ),
    ("a little on an idle card", seen(gpu(0, 40 * MIB)), "-=40(context_overhead)"),
    ("a display", seen(gpu(0, 300 * MIB, display_active=True)), "-=300(graphics)"),
    (
        "only drawing",
        seen(
            gpu(0, 300 * MIB, claim(60, 300 * MIB, kinds=("graphics",))),
            process(60, "root", 0, comm="Xorg"),
        ),
        "root:60=300(graphics)",
    ),
    (
        "the agent is in a container itself",
        seen(gpu(0, 4 * GIB), init_pid_namespace=False),
        "-=4096(other_pid_namespace)",
    ),
    (
        "the driver says the number inside",
        seen(gpu(0, GIB, claim(7)), process(500, "bob", 0, ns_pids=(500, 7))),
        "bob:500=1024(other_pid_namespace)",
    ),
    (
        "a container that the driver does not name",
        seen(gpu(0, 4 * GIB), process(100, "root", 0, place=CONTAINER)),
        "root:100=4096(container)",
    ),
    (
        "an orphan that the driver does not name",
        seen(gpu(0, 4 * GIB), process(100, "carol", 0, ppid=1)),
        "carol:100=4096(worker_of_dead_parent)",
    ),
    (
        "by mapping alone",
        seen(gpu(0, 4 * GIB), process(100, "carol", 0, via="map", ppid=1)),
        "carol:100=4096(worker_of_dead_parent)",
    ),
    (
        "several people's orphans: nobody is accused",
        seen(
            gpu(0, 4 * GIB),
            process(100, "carol", 0, ppid=1),
            process(200, "bob", 0, ppid=1),
        ),
        "carol:100=0(no_context_client) bob:200=0(no_context_client) -=4096(worker_of_dead_parent)",
    ),
    (
        "a dead main thread",
        seen(
            gpu(0, GIB, claim(100)),
            process(100, "bob", 0, via="task_fd", state="Z", threads=3),
        ),
        "bob:100=1024(zombie_leader)",
    ),
    (
        "not reaped, and nobody holds",
        seen(gpu(0, GIB, claim(100)), process(100, "bob", state="Z", threads=1, ppid=99)),
        "-=1024(zombie_parent_not_reaping)",
    ),
    (
        "hangs in the kernel",
        seen(gpu(0, GIB, claim(100)), process(100, "bob", 0, state="D", wchan="nfs_wait")),
        "bob:100=1024(uninterruptible)",
    ),
    (
        "stopped",
        seen(gpu(0, GIB, claim(100)), process(100, "bob", 0, state="T")),
        "bob:100=1024(stopped)",
    ),
    (
        "frozen",
        seen(gpu(0, GIB, claim(100)), process(100, "bob", 0, frozen=True)),
        "bob:100=1024(stopped)",
    ),
    (
        "frozen by the freezer of cgroup v1, which shows as hanging in the kernel",
        seen(gpu(0, GIB, claim(100)), process(100, "bob", 0, frozen=True, state="D")),
        "bob:100=1024(stopped)",
    ),
    (
        "suspended by Roost on purpose: nothing is wrong with it",
        seen(
            gpu(0, 3 * GIB, claim(100), claim(101), claim(102)),
            process(100, "bob", 0, frozen=True, suspended=True),
            process(101, "bob", 0, frozen=True, state="D", suspended=True),
            process(102, "bob", 0, state="T", suspended=True),
        ),
        "bob:100=1024 bob:101=1024 bob:102=1024",
    ),
    (
        "an MPS server",
        seen(
            gpu(0, GIB, claim(100, GIB)),
            process(100, "bob", 0, comm="nvidia-cuda-mps", paths=UVM),
        ),
        "bob:100=1024(mps_server)",
    ),
    (
        "memory of an MPS server's clients after a crash",
        seen(
            gpu(0, 4 * GIB, claim(100, 30 * MIB)),
            process(100, "bob", 0, comm="nvidia-cuda-mps"),
        ),
        "bob:100=30(mps_server) -=4066(mps_server)",
    ),
    (
        "an importer outlives the owner",
        seen(
            gpu(0, 4 * GIB, claim(100), claim(90, 3 * GIB)),
            process(100, "bob", 0, session_id=90),
            former(90, "bob", 0),
        ),
        "bob:100=1024 -=3072(cuda_ipc)",
    ),
    (
        "managed memory",
        seen(gpu(0, 9 * GIB, claim(100)), process(100, "bob", 0, paths=UVM)),
        "bob:100=1024 -=8192(uvm_managed)",
    ),
    (
        "a monitoring tool",
        seen(gpu(0, 0), process(100, "bob", 0, comm="nvtop")),
        "bob:100=0(no_context_client)",
    ),
    (
        "under way in a socket",
        seen(gpu(0, 4 * GIB), process(100, "bob", pending_fds=1)),
        "-=4096(fd_in_flight)",
    ),
    (
        "the persistence daemon",
        seen(gpu(0, 0), process(60, "persist", 0, comm="nvidia-persiste")),
        "persist:60=0(kernel_holder)",
    ),
    (
        "system memory",
        seen(gpu(0, 4 * GIB, memory_is_numa_node=True)),
        "-=4096(gpu_as_numa_node)",
    ),
    (
        "in a virtual machine",
        seen(
            gpu(0, None, state=GpuState.MISSING, pci_bus_id="00000000:3B:00.0"),
            vm_gpus=("0000:3b:00.0",),
        ),
        "-=0(passed_to_vm)",
    ),
    ("busy by itself", seen(gpu(0, 0, utilisation_percent=98)), "-=0(ecc_scrub)"),
    ("nothing found", seen(gpu(0, 4 * GIB)), "-=4096(unexplained)"),
]


@pytest.mark.parametrize(("observation", "said"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_what_is_seen_has_its_reason(observation: Observation, said: str) -> None:
    if "passed_to_vm" in said or "ecc_scrub" in said:
        answer, _ = attribute(observation, Known(), Memory())
    else:
        answer = explain(observation)
    assert picture(answer) == said


def test_memory_that_shrinks_is_being_given_back() -> None:
    memory = Memory()
    facts = process(100, "alice", 0)
    answer, memory = attribute(seen(gpu(0, 8 * GIB, claim(100, 8 * GIB)), facts), Known(), memory)
    answer, memory = attribute(seen(gpu(0, 7 * GIB), at=2001.0), Known(), memory)
    rest = answer.gpus[0].rest
    assert rest is not None
    assert (rest.finding.reason, rest.finding.sure) == (Reason.JUST_EXITING, Sure.LIKELY)
    answer, memory = attribute(seen(gpu(0, 2 * GIB), at=2003.0), Known(), memory)
    rest = answer.gpus[0].rest
    assert rest is not None
    assert (rest.finding.reason, rest.finding.sure) == (Reason.JUST_EXITING, Sure.CERTAIN)
    for second in range(2004, 2030):
        answer, memory = attribute(seen(gpu(0, 2 * GIB), at=float(second)), Known(), memory)
    rest = answer.gpus[0].rest
    assert rest is not None
    assert rest.finding.reason is Reason.UNEXPLAINED


def test_a_suspended_process_has_its_memory_in_the_machine_s() -> None:
    before = process(100, "alice", 0, rss_bytes=GIB)
    after = process(100, "alice", 0, rss_bytes=7 * GIB)
    _, memory = attribute(seen(gpu(0, 6 * GIB, claim(100, 6 * GIB)), before), Known(), Memory())
    for second in range(2001, 2005):
        answer, memory = attribute(seen(gpu(0, 0), after, at=float(second)), Known(), memory)
        assert picture(answer) == "alice:100=0(checkpointed)"


def test_the_overhead_of_a_card_is_learned_and_a_leak_is_not() -> None:
    memory = Memory()
    for second in range(30):
        look = seen(gpu(0, 120 * MIB), at=2000.0 + second)
        answer, memory = attribute(look, Known(), memory)
    assert memory.gpus["GPU-0"].baseline_bytes == 120 * MIB
    rest = answer.gpus[0].rest
    assert rest is not None
    assert rest.finding.reason is Reason.CONTEXT_OVERHEAD
    assert rest.finding.sure is Sure.CERTAIN
    for second in range(30, 90):
        look = seen(gpu(0, 3 * GIB), at=2000.0 + second)
        answer, memory = attribute(look, Known(), memory)
    assert memory.gpus["GPU-0"].baseline_bytes == 120 * MIB
    rest = answer.gpus[0].rest
    assert rest is not None
    assert rest.finding.reason is Reason.UNEXPLAINED


def test_where_nothing_is_found_every_check_is_told_in_order() -> None:
    rest = explain(seen(gpu(0, 4 * GIB))).gpus[0].rest
    assert rest is not None
    assert [check.reason for check in rest.checks] == list(Reason)[:-1]
    row = who_rows(explain(seen(gpu(0, 4 * GIB))), "zh")[0]
    assert row["kind"] == "unattributed"
    assert len(row["checks"]) == 21
    assert "nvidia-smi -r" in row["remedy"]


@pytest.mark.parametrize("reason", list(Reason))
def test_each_reason_has_a_name_and_a_remedy_in_both_languages(reason: Reason) -> None:
    for code in (f"reason_{reason}", f"remedy_{reason}"):
        english, chinese = MESSAGES[code]
        assert english
        assert any("一" <= character <= "鿿" for character in chinese)


def test_the_page_on_attribution_has_every_reason_in_its_order() -> None:
    page = Path(__file__).resolve().parents[3] / "docs" / "attribution.md"
    rows = re.findall(r"^\| `(\w+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [reason.value for reason in Reason]


def test_both_languages_say_the_same_values() -> None:
    for code, pair in MESSAGES.items():
        parsed = [string.Formatter().parse(text) for text in pair]
        fields = [{name for _, name, _, _ in parts if name is not None} for parts in parsed]
        assert fields[0] == fields[1], code


def test_every_row_of_every_case_can_be_said() -> None:
    for _, observation, _ in CASES:
        answer, _ = attribute(observation, Known(), Memory())
        for language in ("en", "zh"):
            for row in who_rows(answer, language):
                assert "{" not in str(row["remedy"])


# -- laws --------------------------------------------------------------------------------------

PIDS = st.integers(100, 108)
AMOUNTS = st.one_of(st.none(), st.integers(0, 6 * GIB))
USERS = st.sampled_from(["root", "alice", "bob", "carol"])


@st.composite
def hosts(draw: st.DrawFn) -> Observation:
    things: list[GpuReading | ProcessFacts] = []
    for index in range(draw(st.integers(1, 3))):
        claims = [
            claim(
                draw(PIDS),
                draw(AMOUNTS),
                kinds=(draw(st.sampled_from(["compute", "graphics", "mps"])),),
                gpu_instance_id=draw(st.sampled_from([None, 1, 2])),
                sm_percent=draw(st.sampled_from([None, 0, 50, 37100])),
            )
            for _ in range(draw(st.integers(0, 5)))
        ]
        used = draw(st.integers(0, 20 * GIB))
        things.append(gpu(index, used, *claims))
    for pid in draw(st.sets(PIDS)):
        minors = draw(st.sets(st.integers(0, 2)))
        things.append(
            process(
                pid,
                draw(USERS),
                *sorted(minors),
                ppid=draw(st.sampled_from([1, 50, 100, 101])),
                state=draw(st.sampled_from("SRDTZ")),
                threads=draw(st.integers(1, 2)),
                session_id=draw(PIDS),
            )
        )
    count = draw(st.integers(0, 2))
    dead = [former(draw(PIDS), draw(USERS), 0, start_ticks=1) for _ in range(count)]
    return seen(*things, *dead)


@given(hosts())
def test_holders_and_rest_are_always_exactly_what_is_used(observation: Observation) -> None:
    answer, memory = attribute(observation, Known(), Memory())
    hold_sums(answer)
    again, _ = attribute(observation, Known(), memory)
    hold_sums(again)


@given(hosts())
def test_only_processes_that_hold_the_gpu_are_its_holders(observation: Observation) -> None:
    answer, _ = attribute(observation, Known(), Memory())
    by_pid = {facts.pid: facts for facts in observation.processes}
    for reading, explained in zip(observation.gpus, answer.gpus, strict=True):
        for holder in explained.holders:
            facts = by_pid[holder.pid]
            assert any(use.minor == reading.minor for use in facts.devices)
        pids = [holder.pid for holder in explained.holders]
        pids += [worker.pid for holder in explained.holders for worker in holder.workers]
        assert len(pids) == len(set(pids)), "a process is told twice on one GPU"


@given(hosts())
def test_the_same_observation_gives_the_same_answer(observation: Observation) -> None:
    assert attribute(observation, Known(), Memory()) == attribute(observation, Known(), Memory())
