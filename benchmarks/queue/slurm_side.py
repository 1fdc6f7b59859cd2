"""A real single-node Slurm on loopback: munged, slurmctld and slurmd of its own, eight GPUs.

Set up to be as fast as it can be: no accounting database, no cgroups, no delay before scheduling.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.queue.side import (
    GPUS,
    Person,
    Side,
    UnavailableError,
    basic_environment,
    need,
    wait_until,
)

CONFIGURATION = """\
ClusterName=bench
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SwitchType=switch/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
SchedulerType=sched/backfill
SchedulerParameters={scheduler}
SlurmdParameters=config_overrides
MaxJobCount=20000
MaxArraySize=10001
MinJobAge=60
ReturnToService=2
NodeName=bench NodeHostname={host} NodeAddr=127.0.0.1 Port={slurmd_port} CPUs=16 Boards=1 \
SocketsPerBoard=1 CoresPerSocket=16 ThreadsPerCore=1 RealMemory=2000 Gres=gpu:a100:{gpus} \
State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

# Start what fits at once, whenever a job comes or ends.
SCHEDULER = "batch_sched_delay=0,sched_min_interval=1000,default_queue_depth=100,bf_interval=5"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class SlurmSide(Side):
    name = "slurm"
    note = "no accounting, no cgroups: the least that Slurm can do for a job"

    def start(self) -> str:
        need("slurmctld", "slurmd", "sbatch", "munged")
        folder = self.folder
        (folder / "state").mkdir()
        (folder / "spool").mkdir()
        for number in range(GPUS):
            os.mknod(folder / f"gpu{number}", 0o666 | 0o020000, os.makedev(195, number))
        self._start_munge()
        (folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                folder=folder,
                host=socket.gethostname(),
                gpus=GPUS,
                ctld_port=free_port(),
                slurmd_port=free_port(),
                scheduler=SCHEDULER,
            )
        )
        devices = f"{folder}/gpu[0-{GPUS - 1}]"
        (folder / "gres.conf").write_text(f"NodeName=bench Name=gpu Type=a100 File={devices}\n")
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
        environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        for command in (["slurmctld"], ["slurmd", "-N", "bench"]):
            subprocess.run(command, env=environment, check=True, capture_output=True)
        version = self._root("sinfo", "--version").strip()
        if not wait_until(lambda: self._root("sinfo", "-h", "-t", "idle", "-o", "%D") == "1\n", 20):
            raise UnavailableError(f"the node never became idle; see {folder}/slurmd.log")
        return version

    def _start_munge(self) -> None:
        place = self.folder / "munge"
        place.mkdir(mode=0o755)
        (place / "key").write_bytes(os.urandom(1024))
        (place / "key").chmod(0o400)
        for path in (place, place / "key"):
            shutil.chown(path, "munge", "munge")
        command = ["munged", "--force", f"--socket={place}/socket", f"--key-file={place}/key"]
        command += [f"--pid-file={place}/pid", f"--log-file={place}/log", f"--seed-file={place}/s"]
        subprocess.run(command, user="munge", group="munge", check=True, capture_output=True)

    def stop(self) -> None:
        for path in ("slurmd.pid", "slurmctld.pid", "munge/pid"):
            file = self.folder / path
            if not file.exists():
                continue
            pid = int(file.read_text())
            os.kill(pid, signal.SIGTERM)
            if not wait_until(lambda pid=pid: not Path(f"/proc/{pid}").exists(), 10):  # type: ignore[misc]
                os.kill(pid, signal.SIGKILL)

    def environment(self, person: Person) -> Mapping[str, str]:
        return {**basic_environment(person), "SLURM_CONF": str(self.folder / "slurm.conf")}

    def submit(self, program: Path) -> Sequence[str]:
        return ["sbatch", "--parsable", "-o", "/dev/null", "--gres=gpu:1", str(program)]

    def submit_many(self, program: Path, count: int) -> Sequence[str]:
        return [*self.submit(program)[:-1], f"--array=1-{count}", str(program)]

    def looks(self) -> Mapping[str, Sequence[str]]:
        return {"status": ["sinfo", "-N", "-o", "%N %t %G"], "jobs": ["squeue"]}

    def idle(self) -> bool:
        return self._root("squeue", "-h", "-o", "%i").strip() == ""

    def clear(self) -> None:
        self._root("scancel", *(f"--user={person.name}" for person in self.place.people[:1]))
        self._root("scancel", f"--user={self.place.people[1].name}")
        wait_until(self.idle, 60, 0.5)
        time.sleep(1)

    def _root(self, *command: str) -> str:
        environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        ).stdout
