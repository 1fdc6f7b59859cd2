"""What the agent does for the server: the closed list of `roost.wire.messages`, and nothing else.

Trusts nothing it is sent (see `validate`). Runs in one event loop; looks at the host happen in the
sampling thread. Goes on as before while no server is connected.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import TypeVar

import msgspec
import structlog

import roost
from roost.agent import control
from roost.agent.accounts import Accounts
from roost.agent.attempts import EXECUTING, Attempts
from roost.agent.auditing import Audits
from roost.agent.config import AgentConfig
from roost.agent.data_sets import AgentData
from roost.agent.door import ServerDoor
from roost.agent.drivers import Uses
from roost.agent.facts import Host
from roost.agent.gpus import Gpus
from roost.agent.lately import Lately
from roost.agent.outputs import Outputs
from roost.agent.people import People
from roost.agent.record import Prepared
from roost.agent.sampling import Sampler
from roost.agent.signin import SignIns
from roost.agent.suspend_order import order_of, tool_of
from roost.agent.validate import RefusedError, check, seconds
from roost.core.observation import Observation
from roost.machine import private_dev
from roost.machine.accounts import Account, RefusedAccountError
from roost.wire.accounts import ChangeAccounts, ListDisabled, LookAtAccounts
from roost.wire.audit import AuditMachine, MendMachine, UndoMends
from roost.wire.data import AddData, ListData, RemoveData
from roost.wire.messages import (
    PROTOCOL_VERSION,
    AgentMessage,
    AgentRequest,
    AttemptChanged,
    AttemptState,
    CheckAccounts,
    CheckSignIn,
    Configure,
    Done,
    ForgetJob,
    FreeProcesses,
    FreeResult,
    Hello,
    Launch,
    LaunchSpec,
    ListAttempts,
    Observed,
    ReadOutput,
    Refused,
    ReleaseDriver,
    ResumeJob,
    Samples,
    SamplesSince,
    Scan,
    SignalJob,
    StopJob,
    SuspendJob,
    Welcome,
)
from roost.wire.messages import (
    Attempts as AttemptList,
)

log = structlog.get_logger()
T = TypeVar("T")
KEPT_S = 600.0
FIRST_LOOK_S = 30.0
SAMPLES_BYTES = 32 * 1024 * 1024


class Means:
    """What the service stands on, beside its attempts; `free` blocks and is called in a thread."""

    def __init__(
        self,
        sampler: Sampler,
        release: Callable[[], None],
        hold: Callable[[], None],
        free: Callable[[FreeProcesses], FreeResult],
        tell_load: Callable[[Uses], None],
    ) -> None:
        self.sampler = sampler
        self.release = release
        self.hold = hold
        self.free = free
        self.tell_load = tell_load


class Service:
    def __init__(self, config: AgentConfig, host: Host, gpus: Gpus, people: People) -> None:
        self._config = config
        self._host = host
        self._gpus = gpus
        self._people = people
        self._loop = asyncio.get_running_loop()
        self._server: ServerDoor | None = None
        self._lately = Lately(KEPT_S)
        self._looked = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._preparing: dict[tuple[int, int], list[control.AnyOrder]] = {}
        self._attempts: Attempts | None = None
        self._means: Means | None = None
        self._sign_ins = SignIns()
        self._outputs = Outputs(people)
        self._audits = Audits(config, people)
        self._data = AgentData(people)
        bases = (host.layout.path,) if host.layout.path else ()
        self._accounts = Accounts(config.state, bases, people.forget)

    def use(self, attempts: Attempts, means: Means) -> None:
        """The parts that call back into this one; before the first connection."""
        self._attempts, self._means = attempts, means

    def recovered(self) -> None:
        """The attempts of before are known: looks are told of them from the first on."""
        self._tell_sampler()

    # -- the server's connection ---------------------------------------------------------------

    def door(self) -> ServerDoor:
        return ServerDoor(self._allowed, self._entered, self._take, self._gone)

    def _allowed(self, uid: int) -> bool:
        own = 0 if self._host.as_root else self._host.facts(False).uid
        return uid in (0, own, *self._config.server_uids)

    def _entered(self, door: ServerDoor) -> None:
        if self._server is not None:
            log.info("a new server connection takes the place of the old one")
            self._server.close()
        self._server = door

    def _gone(self, door: ServerDoor) -> None:
        if self._server is door:
            self._server = None

    def _say(self, message: AgentMessage) -> None:
        if self._server is not None:
            self._server.send(message)

    # -- what happens by itself ----------------------------------------------------------------

    def attempt_changed(self, state: AttemptState) -> None:
        self._say(AttemptChanged(state))
        self._tell_sampler()

    def _tell_sampler(self) -> None:
        if self._attempts is None or self._means is None:
            return
        executing = [state for state in self._attempts.states() if state.state in EXECUTING]
        self._means.sampler.set_attempts(
            {
                (state.pid, state.start_ticks): (state.job, state.attempt)
                for state in executing
                if state.pid and state.start_ticks
            },
            frozenset((s.job, s.attempt) for s in executing if s.state == "suspended"),
        )
        self._means.tell_load(self._attempts.uses())

    def observed(self, observation: Observation) -> None:
        """A look is over; called in the loop."""
        self._lately.add(observation)
        self._gpus.see(observation.gpus)
        if observation.gpus:  # a driver that is still starting names none: that is no look yet
            self._looked.set()
        self._say(Observed(observation))

    # -- requests ------------------------------------------------------------------------------

    def _take(self, door: ServerDoor, message: AgentRequest) -> None:
        request = getattr(message, "request", 0)
        try:
            answer = self._answer(door, message)
        except RefusedError as error:
            answer = self._refused(message, request, error)
        except Exception as error:
            log.exception("request failed", kind=type(message).__name__)
            answer = Refused(request, "agent_error", f"{type(error).__name__}: {error}")
        if answer is not None and (request or not isinstance(answer, Done)):
            door.send(answer)

    def _answer(self, door: ServerDoor, message: AgentRequest) -> AgentMessage | None:
        attempts, means = self._attempts, self._means
        if attempts is None or means is None:
            raise RuntimeError("a request before the agent is ready")
        match message:
            case Hello():
                if message.version != PROTOCOL_VERSION:
                    log.warning("server of another protocol", version=message.version)
                facts = self._host.facts(self._config.simulate is not None)
                tool, _ = tool_of(self._config, self._host, self._lately.newest)
                facts = msgspec.structs.replace(facts, cuda_checkpoint=bool(tool))
                door.send(Welcome(PROTOCOL_VERSION, roost.__version__, facts))
                for state in attempts.states():
                    if state.state == "ended":  # told until it is forgotten
                        door.send(AttemptChanged(state))
                return None
            case Configure():
                means.sampler.set_period(seconds("sampling period", message.sample_s))
                return None
            case Launch():
                return self._launch(door, attempts, message)
            case StopJob(job=job, attempt=attempt, request=request):
                grace_s = seconds("grace", message.grace_s)
                self._order(attempts, (job, attempt), control.Stop(message.reason, grace_s))
                return Done(request)
            case SuspendJob(job=job, attempt=attempt, request=request):
                if message.how not in ("freeze", "checkpoint"):
                    detail = f"there is no way {message.how!r} to suspend a job"
                    raise RefusedError("bad_spec", detail=detail)
                order = order_of(message, self._config, self._host, self._lately.newest)
                self._order(attempts, (job, attempt), order)
                return Done(request)
            case ResumeJob(job=job, attempt=attempt, request=request):
                self._order(attempts, (job, attempt), control.Resume())
                return Done(request)
            case SignalJob(job=job, attempt=attempt, request=request):
                if not 1 <= message.signal <= 64:
                    raise RefusedError("bad_spec", detail=f"there is no signal {message.signal}")
                self._order(attempts, (job, attempt), control.Signal(message.signal))
                return Done(request)
            case ForgetJob(job=job, attempt=attempt, request=request):
                attempts.forget((job, attempt))
                return Done(request)
            case ListAttempts(request=request):
                return AttemptList(request, attempts.states())
            case SamplesSince(request=request):
                return self._samples(message)
            case Scan(request=request):
                self._later(
                    door,
                    request,
                    means.sampler.scan(),
                    lambda found: Observed(found, request),
                )
                return None
            case ReleaseDriver(request=request):
                action = means.hold if message.hold else means.release
                self._later(door, request, means.sampler.ask(action), lambda _: Done(request))
                return None
            case FreeProcesses(request=request):
                seconds("grace", message.grace_s)
                self._later(
                    door, request, _in_thread(lambda: means.free(message)), lambda result: result
                )
                return None
            case CheckSignIn():
                self._answer_later(door, message.request, self._sign_ins.check(message))
                return None
            case CheckAccounts():
                self._answer_later(door, message.request, self._sign_ins.standing(message))
                return None
            case ReadOutput():
                self._answer_later(door, message.request, self._outputs.read(message))
                return None
            case AuditMachine() | MendMachine() | UndoMends():
                self._answer_later(door, message.request, self._audits.answer(message))
                return None
            case AddData():
                self._answer_later(door, message.request, self._data.add(message))
                return None
            case ListData():
                self._answer_later(door, message.request, self._data.listed(message))
                return None
            case RemoveData():
                self._answer_later(door, message.request, self._data.remove(message))
                return None
            case LookAtAccounts():
                self._answer_later(door, message.request, self._accounts.look(message))
                return None
            case ListDisabled():
                self._answer_later(door, message.request, self._accounts.disabled(message))
                return None
            case ChangeAccounts():
                self._answer_later(door, message.request, self._accounts.change(message))
                return None

    def _order(self, attempts: Attempts, key: tuple[int, int], order: control.AnyOrder) -> None:
        if key in self._preparing:
            self._preparing[key].append(order)  # its account is still being looked up
            return
        if not attempts.order(key, order):
            state = attempts.state(key)
            if state is not None:
                self._say(AttemptChanged(state))  # it has ended: that is the answer

    def _samples(self, message: SamplesSince) -> Samples:
        return Samples(message.request, self._lately.since(message.at))

    def _later(
        self,
        door: ServerDoor,
        request: int,
        future: Future[T],
        answer: Callable[[T], AgentMessage],
    ) -> None:
        async def wait() -> AgentMessage:
            return answer(await asyncio.wrap_future(future))

        self._answer_later(door, request, wait())

    def _answer_later(
        self, door: ServerDoor, request: int, work: Coroutine[None, None, AgentMessage]
    ) -> None:
        async def wait() -> None:
            try:
                reply = await work
            except RefusedError as error:
                reply = Refused(request, error.code, error.text)
            except Exception as error:
                log.exception("request failed", request=request)
                reply = Refused(request, "agent_error", f"{type(error).__name__}: {error}")
            door.send(reply)

        self._task(wait())

    def _task(self, work: asyncio._CoroutineLike[None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- launching -----------------------------------------------------------------------------

    def _launch(self, door: ServerDoor, attempts: Attempts, message: Launch) -> AgentMessage | None:
        spec = message.spec
        check(spec)
        key = (spec.job, spec.attempt)
        if key in self._preparing:
            return Done(message.request)
        if not attempts.may_launch(key):
            state = attempts.state(key)
            if state is not None:
                door.send(AttemptChanged(state))
            return Done(message.request)
        account = self._people.known(spec.user)
        if account is None or (spec.gpus and not self._looked.is_set()):
            self._preparing[key] = []
            self._task(self._launch_later(door, attempts, message))
            return None
        self._launch_now(attempts, spec, account)
        return Done(message.request)

    async def _launch_later(self, door: ServerDoor, attempts: Attempts, message: Launch) -> None:
        spec = message.spec
        answer: AgentMessage
        try:
            account = await self._people.ask(spec.user)
            if spec.gpus and not self._looked.is_set():
                await asyncio.wait_for(self._looked.wait(), FIRST_LOOK_S)
            if attempts.may_launch((spec.job, spec.attempt)):
                self._launch_now(attempts, spec, account)
                for order in self._preparing[spec.job, spec.attempt]:
                    attempts.order((spec.job, spec.attempt), order)
            answer = Done(message.request)
        except RefusedAccountError as error:
            refused = RefusedError(error.code, **error.numbers)
            answer = self._refused(message, message.request, refused)
        except RefusedError as error:
            answer = self._refused(message, message.request, error)
        except TimeoutError:
            late = RefusedError("unknown_gpu", uuid=", ".join(gpu.uuid for gpu in spec.gpus))
            answer = self._refused(message, message.request, late)
        finally:
            del self._preparing[spec.job, spec.attempt]
        if message.request or not isinstance(answer, Done):
            door.send(answer)

    def _launch_now(self, attempts: Attempts, spec: LaunchSpec, account: Account) -> None:
        host = self._host
        view = private_dev.view_for(self._gpus.access(spec.gpus), self._config.devices)
        attempts.launch(
            Prepared(
                spec=spec,
                account=account,
                boot_id=host.boot_id,
                created_at=time.time(),
                layout=host.layout,
                devices=view.numbers if host.layout.device_filter else None,
                nodes=view.nodes if host.private_dev else None,
                runtime=self._config.runtime,
                as_root=host.as_root,
                no_new_privileges=not self._config.new_privileges,
                max_processes=host.processes,
                terminal_wait_s=self._config.terminal_wait_s,
            )
        )

    def _refused(self, message: AgentRequest, request: int, error: RefusedError) -> AgentMessage:
        log.info("refused", kind=type(message).__name__, code=error.code, text=error.text)
        return Refused(request, error.code, error.text)


def _in_thread(work: Callable[[], T]) -> Future[T]:
    """A daemon thread for one piece of work: it must not keep the agent from ending."""
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except Exception as error:  # noqa: BLE001 - handed to whoever asked
            answer.set_exception(error)

    threading.Thread(target=run, name="free", daemon=True).start()
    return answer
