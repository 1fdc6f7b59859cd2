"""The agent's eyes put together: driver, observer, the sampling thread, and freeing of GPUs."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

import structlog

from roost.agent.config import AgentConfig
from roost.agent.drivers import Uses, open_driver, tell_load
from roost.agent.facts import Host
from roost.agent.sampling import Sampler, own_pids
from roost.core.observation import GpuReading, Observation
from roost.machine.free import Freeing, free
from roost.machine.guard import Guard
from roost.machine.observer import Observer, ObserverConfig
from roost.machine.owner import ContainerDirectory, stop_container
from roost.machine.proc.devices import DeviceMatcher
from roost.machine.proc.facts import Reader
from roost.machine.proc.users import UserNames
from roost.wire.messages import FreeProcesses, FreeResult

log = structlog.get_logger()
READ_S = 2.0
ASKED_S = 10.0


class Eyes:
    """Looks begin with `sampler.start()`; `close` lets go of the driver."""

    def __init__(
        self,
        config: AgentConfig,
        host: Host,
        deliver: Callable[[Observation], None],
        launcher_pid: int | None,
    ) -> None:
        self._driver = open_driver(config.simulate)
        self._simulated = config.simulate is not None
        self._users = UserNames()
        self._last: tuple[GpuReading, ...] = ()
        bases = (host.layout.path.encode(),) if host.layout.path else ()
        settings = ObserverConfig(server=socket.gethostname(), roost_bases=bases)
        observer = Observer(
            self._driver,
            settings,
            self._users,
            ContainerDirectory(self._users.accounts, self._users.name),
        )
        self._own = own_pids(launcher_pid)
        observer.set_own(self._own)
        self._reader = Reader(
            matcher=DeviceMatcher(settings.nodes),
            user_name=self._users.name,
            guard=Guard("free-reads"),
            roost_bases=bases,
        )

        def seen(observation: Observation) -> None:
            self._last = observation.gpus
            deliver(observation)

        self.sampler = Sampler(observer, seen)

    def tell_load(self, uses: Uses) -> None:
        """What runs on which GPU, for simulated ones."""
        if self._simulated:
            tell_load(self._driver, uses)

    def release(self) -> None:
        self._driver.release()

    def hold(self) -> None:
        self._driver.hold()

    def free(self, message: FreeProcesses) -> FreeResult:
        """Blocks; called in a thread of its own."""
        means = Freeing(
            reader=self._reader,
            read_gpus=self._read_gpus,
            stop_container=stop_container,
            protected=self._own | own_pids(getattr(self._driver, "helper_pid", None)),
        )
        return free(means, message.items, message.grace_s, message.only_uid, message.request)

    def _read_gpus(self) -> Sequence[GpuReading]:
        asked = self.sampler.ask(lambda: self._driver.read(READ_S)[1])
        try:
            return asked.result(ASKED_S)
        except TimeoutError:
            log.warning("GPUs not read in time; the last sample stands in")
            return self._last

    def close(self) -> None:
        self.sampler.close()
        self._driver.close()
