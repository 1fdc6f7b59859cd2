"""One look at the host, as immutable data: what `machine` reads and `core.attribution` explains.

`None` always means "the card, the driver or the kernel does not say", never zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class DriverState(StrEnum):
    OK = "ok"
    SIMULATED = "simulated"
    NO_LIBRARY = "no_library"
    NOT_LOADED = "not_loaded"
    VERSION_MISMATCH = "version_mismatch"
    RELOADING = "reloading"
    NOT_ANSWERING = "not_answering"
    RELEASED = "released"
    ERROR = "error"


class GpuState(StrEnum):
    OK = "ok"
    LOST = "lost"
    RESET_REQUIRED = "reset_required"
    NOT_ANSWERING = "not_answering"
    NO_PERMISSION = "no_permission"
    MISSING = "missing"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A line of NVML's process lists, joined over them: a claim, checked by pid and start time.

    `memory_bytes` None: not available. `kinds` holds "compute", "graphics", "mps" in that order.
    """

    pid: int
    memory_bytes: int | None
    kinds: tuple[str, ...] = ("compute",)
    gpu_instance_id: int | None = None
    compute_instance_id: int | None = None
    sm_percent: int | None = None


@dataclass(frozen=True, slots=True)
class MigInstance:
    uuid: str
    name: str
    gpu_instance_id: int
    compute_instance_id: int
    memory_total_bytes: int | None = None
    memory_used_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class GpuReading:
    """All that one GPU said in one sample. `memory_used_bytes` excludes the driver's reserve.

    used + free + reserved = total is checked by the driver as it reads; where a card breaks it,
    `memory_consistent` is False and the reading still holds what the card said.
    """

    uuid: str
    index: int
    name: str
    state: GpuState = GpuState.OK
    state_detail: str = ""
    minor: int | None = None
    pci_bus_id: str | None = None
    numa_node: int | None = None
    links: tuple[str, ...] = ()
    memory_total_bytes: int | None = None
    memory_used_bytes: int | None = None
    memory_reserved_bytes: int | None = None
    memory_free_bytes: int | None = None
    memory_consistent: bool = True
    bar1_used_bytes: int | None = None
    utilisation_percent: int | None = None
    memory_utilisation_percent: int | None = None
    encoder_percent: int | None = None
    decoder_percent: int | None = None
    temperature_c: int | None = None
    temperature_slowdown_c: int | None = None
    temperature_shutdown_c: int | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    energy_j: float | None = None
    sm_clock_mhz: int | None = None
    sm_clock_max_mhz: int | None = None
    memory_clock_mhz: int | None = None
    throttle_reasons: tuple[str, ...] | None = None
    ecc_corrected: int | None = None
    ecc_uncorrected: int | None = None
    fan_percent: int | None = None
    pcie_generation: int | None = None
    pcie_generation_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    mig_mode: bool | None = None
    mig_instances: tuple[MigInstance, ...] = ()
    persistence_mode: bool | None = None
    display_active: bool | None = None
    memory_is_numa_node: bool | None = None
    processes: tuple[GpuProcess, ...] = ()


@dataclass(frozen=True, slots=True)
class DriverReading:
    """State of the driver as a whole. `remedy_code` names a message of the `driver` catalogue."""

    state: DriverState
    driver_version: str | None = None
    cuda_version: str | None = None
    detail: str = ""
    remedy_code: str | None = None
    since_at: float | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a process lives, read from its cgroup, parents, environment and command line."""

    container_id: str | None = None
    container_engine: str | None = None
    container_name: str | None = None
    pod: str | None = None
    systemd_unit: str | None = None
    login_session: str | None = None
    tmux: str | None = None
    jupyter_kernel: str | None = None
    slurm_job: str | None = None
    roost_job: int | None = None
    roost_attempt: int | None = None


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """An open or mapped `/dev/nvidia*` of a process.

    `minor` is N of /dev/nvidiaN, None for nvidiactl, uvm and caps, which name no GPU.
    `via` is "fd", "map", "task_fd" (a thread of a process whose main thread has exited).
    """

    path: str
    minor: int | None
    via: str


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """One process, identified by pid and start time (clock ticks since boot, /proc/PID/stat 22).

    Text from the kernel is valid UTF-8 and fit to show: bytes that are not, and control characters,
    stand as escapes (`\\xff`, `\\n`). `uid` None: could not be read. `visible` False: this agent
    may not look into the process (EACCES). `login_uid` is who logged in (audit), None: nobody did;
    `pending_fds` counts descriptors sent to its sockets and not yet received (fdinfo scm_fds).
    `suspended`: Roost suspended its job where it is, so that it stands still on purpose.
    """

    pid: int
    start_ticks: int
    ppid: int | None = None
    uid: int | None = None
    user: str | None = None
    state: str = "?"
    threads: int | None = None
    comm: str = ""
    cmdline: tuple[str, ...] = ()
    cwd: str | None = None
    started_at: float | None = None
    cpu_s: float | None = None
    rss_bytes: int | None = None
    session_id: int | None = None
    pid_namespace: int | None = None
    ns_pids: tuple[int, ...] = ()
    cgroup: str | None = None
    wchan: str | None = None
    frozen: bool | None = None
    devices: tuple[DeviceUse, ...] = ()
    place: Place = field(default_factory=Place)
    visible: bool = True
    login_uid: int | None = None
    login_user: str | None = None
    pending_fds: int = 0
    suspended: bool = False


@dataclass(frozen=True, slots=True)
class Identity:
    """pid and start time: what a process is known by."""

    pid: int
    start_ticks: int


@dataclass(frozen=True, slots=True)
class Ancestor:
    """What is remembered of a process that held a GPU and is gone: who it was, for its orphans."""

    pid: int
    start_ticks: int
    uid: int | None
    user: str | None
    comm: str
    place: Place
    seen_at: float
    gpu_uuids: tuple[str, ...] = ()
    session_id: int | None = None
    cgroup: str | None = None


@dataclass(frozen=True, slots=True)
class ContainerFacts:
    """A container as its engine describes it, with the person behind it and how sure that is.

    `owner_sure` is "certain", "likely" or "possible", None where nobody was found.
    """

    id: str
    engine: str
    name: str = ""
    image: str = ""
    owner: str | None = None
    owner_evidence: str | None = None
    owner_sure: str | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """The host at `taken_at`. `processes` holds those that matter for GPUs, not all of them.

    `scan_complete` says that every process was searched for GPU devices for this observation;
    else processes found by evidence and by the rolling sweep are there, which is the usual case.
    `gone` are remembered former holders whose process exists no more. `gpu_nodes` are the minors
    that have a device file here; a GPU without one cannot be seen to be open, so that NVML's word
    for its processes has to do (WSL, simulation). `mps`: root's MPS control daemon runs here,
    without which a share of a GPU's compute is a promise alone; None: not looked for.
    """

    taken_at: float
    boot_id: str
    server: str
    driver: DriverReading
    gpus: tuple[GpuReading, ...]
    processes: tuple[ProcessFacts, ...] = ()
    gone: tuple[Ancestor, ...] = ()
    containers: tuple[ContainerFacts, ...] = ()
    scan_complete: bool = False
    scanned_at: float | None = None
    init_pid_namespace: bool = True
    can_see_all: bool = True
    vm_gpus: tuple[str, ...] = ()
    gpu_nodes: tuple[int, ...] = ()
    sample_s: float = 1.0
    late_s: float = 0.0
    mps: bool | None = None
