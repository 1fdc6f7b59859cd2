"""What a supervisor is told when its job is to be suspended: with what only the agent knows.

Which program moves GPU memory here, if any, and what the job's processes hold by the driver's word.
"""

from __future__ import annotations

from roost.agent.config import AgentConfig
from roost.agent.control import Suspend
from roost.agent.facts import Host
from roost.core.observation import Observation
from roost.machine import cuda_checkpoint, freezer
from roost.wire.messages import SuspendJob


def tool_of(config: AgentConfig, host: Host, observation: Observation | None) -> tuple[str, str]:
    """(path, "") of the program to be used on this machine, or ("", why there is none)."""
    if config.simulate is not None:
        return "", "its GPUs are simulated"
    if not host.as_root:
        return "", "Roost does not run as root"
    if not freezer.possible(host.layout):
        return "", "there is no cgroup in which jobs can be frozen"
    driver = observation.driver.driver_version if observation else None
    return cuda_checkpoint.find(config.cuda_checkpoint, driver or loaded_driver())


def loaded_driver(path: str = "/sys/module/nvidia/version") -> str | None:
    """The version of the kernel's driver, for as long as NVML has not said it."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None  # none is loaded


def order_of(
    message: SuspendJob, config: AgentConfig, host: Host, observation: Observation | None
) -> Suspend:
    """What the supervisor is told, with what only the agent knows."""
    if message.how != "checkpoint":
        return Suspend(message.how)
    tool, lack = tool_of(config, host, observation)
    held: dict[int, int] = {}
    if observation is not None:
        own = {
            facts.pid
            for facts in observation.processes
            if (facts.place.roost_job, facts.place.roost_attempt) == (message.job, message.attempt)
        }
        for gpu in observation.gpus:
            for process in gpu.processes:
                if process.pid in own:
                    held[process.pid] = held.get(process.pid, 0) + (process.memory_bytes or 1)
    return Suspend(message.how, tool, config.cuda_checkpoint_s, held, lack)
