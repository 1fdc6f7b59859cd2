"""One look at 8 GPUs with 64 GPU processes among 2,000: Roost against gpustat and nvitop.

All three read the same fake NVML in their own process, warmed up, in turns. Roost observes (through
its NVML helper), checks every claim, sweeps for silent holders and attributes; the other two list.
Run as root: `python -m benchmarks.observe`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

GPUS = 8
SIDES = ("roost", "gpustat", "nvitop")
HOLDER = 'exec sleep 7200 3<>"$0" 4<>"${0%/*}/nvidiactl" 5<>"${0%/*}/nvidia-uvm"'


@contextmanager
def machine(directory: Path, holders: int, others: int) -> Iterator[list[int]]:
    """Real processes: `holders` with a stand-in GPU device open, `others` without. Yields pids of
    the holders."""
    for name in [*(f"nvidia{n}" for n in range(GPUS)), "nvidiactl", "nvidia-uvm"]:
        os.mknod(directory / name, 0o020666, os.makedev(1, 5))
    started = []
    try:
        pids = []
        for number in range(holders):
            node = str(directory / f"nvidia{number % GPUS}")
            process = subprocess.Popen(["/bin/sh", "-c", HOLDER, node])
            started.append(process)
            pids.append(process.pid)
        started += [subprocess.Popen(["/bin/sleep", "7200"]) for _ in range(others)]
        time.sleep(1.0)
        yield pids
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def roost_side(devices: str) -> Callable[[], object]:
    from roost.core.attribution import Known, Memory, attribute
    from roost.machine.nvml.driver import NvmlDriver
    from roost.machine.observer import Observer, ObserverConfig
    from roost.machine.proc.devices import device_nodes

    nodes = device_nodes({"ROOST_DEVICE_DIR": devices, "ROOST_DEVICE_MAJORS": "1"})
    driver = NvmlDriver()
    observer = Observer(driver, ObserverConfig(server="bench", nodes=nodes))
    memory = Memory()
    known = Known()

    def once() -> object:
        nonlocal memory
        observation = observer.sample(time.time())
        answer, memory = attribute(observation, known, memory)
        return answer

    return once


def gpustat_side(_devices: str) -> Callable[[], object]:
    from gpustat import GPUStatCollection

    return GPUStatCollection.new_query


def nvitop_side(_devices: str) -> Callable[[], object]:
    from nvitop import take_snapshots

    return take_snapshots


def measure(side: str, devices: str, rounds: int, steady_s: float) -> dict[str, float]:
    """Median seconds a look, and CPU share of one core and RSS at one look a second."""
    make = {"roost": roost_side, "gpustat": gpustat_side, "nvitop": nvitop_side}[side]
    once = make(devices)
    for _ in range(5):
        once()
    walls, cpus = [], []
    for _ in range(rounds):
        cpu, wall = _cpu_s(), time.perf_counter()
        once()
        walls.append(time.perf_counter() - wall)
        cpus.append(_cpu_s() - cpu)
        time.sleep(0.02)
    began, cpu = time.monotonic(), _cpu_s()
    while time.monotonic() - began < steady_s:
        once()
        time.sleep(max(0.0, 1.0 - (time.monotonic() - began) % 1.0))
    span = time.monotonic() - began
    steady = (_cpu_s() - cpu) / span if steady_s else 0.0
    walls.sort()
    cpus.sort()
    return {
        "wall_ms": walls[len(walls) // 2] * 1000,
        "p90_ms": walls[len(walls) * 9 // 10] * 1000,
        "cpu_ms": cpus[len(cpus) // 2] * 1000,
        "steady_percent": steady * 100,
        "rss_mb": _rss_mb(),
    }


def _family() -> list[int]:
    pids = [os.getpid()]
    for pid in pids:
        for task in os.listdir(f"/proc/{pid}/task"):
            children = Path(f"/proc/{pid}/task/{task}/children").read_text().split()
            pids += [int(child) for child in children]
    return pids


def _cpu_s() -> float:
    """CPU of this process and its helpers, which belong to the cost of a look."""
    ticks = os.sysconf("SC_CLK_TCK")
    own = resource.getrusage(resource.RUSAGE_SELF)
    total = own.ru_utime + own.ru_stime
    for pid in _family()[1:]:
        schedstat = Path(f"/proc/{pid}/schedstat")
        if schedstat.exists():
            total += int(schedstat.read_text().split()[0]) / 1e9
        else:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / ticks
    return total


def _rss_mb() -> float:
    total = 0
    for pid in _family():
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                total += int(line.split()[1])
    return total / 1024


def run(arguments: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Starts the machine, then each side in turn in fresh processes; the best turn counts."""
    from tests.real.fakenvml.state import MIB, FakeProcess, FakeState, environment

    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        devices = Path(folder) / "dev"
        devices.mkdir(mode=0o755)
        with machine(devices, arguments.holders, arguments.processes) as pids:
            state = FakeState.of("A100-80", GPUS)
            for number, pid in enumerate(pids):
                process = FakeProcess.of(pid, 500 * MIB, sm=10)
                state.gpus[number % GPUS].processes.append(process)
            path = Path(folder) / "state"
            state.write(path)
            results: dict[str, dict[str, float]] = {}
            for turn in range(arguments.turns):
                for side in SIDES:
                    steady = arguments.steady if turn == arguments.turns - 1 else 0.0
                    command = [sys.executable, "-m", "benchmarks.observe", "--side", side]
                    command += ["--devices", str(devices), "--rounds", str(arguments.rounds)]
                    command += ["--steady", str(steady)]
                    answer = subprocess.run(
                        command, env=os.environ | environment(path), capture_output=True, text=True
                    )
                    if answer.returncode:
                        raise SystemExit(f"{side} failed:\n{answer.stderr}")
                    found = json.loads(answer.stdout)
                    best = results.setdefault(side, found)
                    for key in ("wall_ms", "p90_ms", "cpu_ms"):
                        best[key] = min(best[key], found[key])
                    if steady:
                        best.update({k: found[k] for k in ("steady_percent", "rss_mb")})
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--holders", type=int, default=64)
    parser.add_argument("--processes", type=int, default=2000 - 64)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--steady", type=float, default=20.0, help="seconds at one look a second")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--devices", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        found = measure(arguments.side, arguments.devices, arguments.rounds, arguments.steady)
        print(json.dumps(found))
        return
    results = run(arguments)
    if arguments.json:
        print(json.dumps(results, indent=2))
        return
    print(f"{'':10}{'wall ms':>10}{'p90 ms':>10}{'CPU ms':>10}{'steady CPU %':>14}{'RSS MB':>9}")
    for side, found in results.items():
        print(
            f"{side:10}{found['wall_ms']:10.2f}{found['p90_ms']:10.2f}{found['cpu_ms']:10.2f}"
            f"{found['steady_percent']:14.2f}{found['rss_mb']:9.0f}"
        )
    roost = results["roost"]
    for side in SIDES[1:]:
        wall = results[side]["wall_ms"] / roost["wall_ms"]
        cpu = results[side]["cpu_ms"] / roost["cpu_ms"]
        print(f"{side} takes {wall:.2f} times Roost's wall and {cpu:.2f} times its CPU")


if __name__ == "__main__":
    main()
