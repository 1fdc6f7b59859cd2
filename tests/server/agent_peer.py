"""An honest peer for the server's engine: it speaks the wire on a real socket and keeps attempts.

It executes nothing: a job's command is `sleep SECONDS EXIT_CODE`, which it "runs" by waiting. Each
(job, attempt) is run at most once and counted, as the real agent does; records outlive connections.
"""

from __future__ import annotations

import os
import pwd
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from roost.core.accounts.model import HostSeen
from roost.core.audit.facts import Facts, Home
from roost.core.model import EndReason
from roost.core.observation import (
    DriverReading,
    DriverState,
    GpuProcess,
    GpuReading,
    Observation,
    Place,
    ProcessFacts,
)
from roost.wire.accounts import (
    AccountsChanged,
    AccountsSeen,
    ChangeAccounts,
    DisabledListed,
    ListDisabled,
    LookAtAccounts,
    StepOutcome,
)
from roost.wire.audit import (
    Audited,
    AuditMachine,
    Mended,
    MendMachine,
    MendOutcome,
    UndoMends,
)
from roost.wire.data import AddData, DataDone, DataSets, ListData, RemoveData
from roost.wire.frames import encode, requests
from roost.wire.messages import (
    PROTOCOL_VERSION,
    AccountsChecked,
    AgentMessage,
    AgentRequest,
    AttemptChanged,
    AttemptEnd,
    Attempts,
    AttemptState,
    CheckAccounts,
    CheckSignIn,
    Configure,
    Done,
    ForgetJob,
    Freed,
    FreeProcesses,
    FreeResult,
    Hello,
    HostFacts,
    Launch,
    LaunchSpec,
    ListAttempts,
    Observed,
    OutputRead,
    ReadOutput,
    Refused,
    ReleaseDriver,
    Samples,
    SamplesSince,
    Scan,
    SignalJob,
    SignInChecked,
    StopJob,
    Welcome,
)

GIB = 1024**3


def uid_of(user: str) -> int | None:
    try:
        return pwd.getpwnam(user).pw_uid
    except (KeyError, ValueError):
        return None


@dataclass
class Record:
    spec: LaunchSpec
    state: AttemptState
    ends_at: float
    exit_code: int
    on_stop: str = "die"
    stopped: EndReason | None = None
    kill_at: float | None = None


@dataclass
class AgentPeer:
    """`executed` counts how often each attempt ran; more than once would be the server's fault."""

    path: Path
    gpus: int = 4
    boot_id: str = "boot-1"
    sample_s: float = 0.2
    uid: int = 0
    records: dict[tuple[int, int], Record] = field(default_factory=dict)
    executed: dict[tuple[int, int], int] = field(default_factory=dict)
    ended: dict[tuple[int, int], AttemptEnd] = field(default_factory=dict)
    forgotten: list[tuple[int, int]] = field(default_factory=list)
    signals: list[tuple[int, int, int]] = field(default_factory=list)
    settings: list[Configure] = field(default_factory=list)
    samples: list[Observation] = field(default_factory=list)
    strange: list[ProcessFacts] = field(default_factory=list)
    strange_on: dict[int, tuple[int, int]] = field(default_factory=dict)
    refuse: str = ""
    refuse_code: str = "refused"
    refusals: int = 0
    silent: bool = False

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._connection: socket.socket | None = None
        self._stop = threading.Event()
        self._listener: socket.socket | None = None
        self._energy = 0.0

    # -- life ------------------------------------------------------------------------------------

    def __enter__(self) -> AgentPeer:
        self.path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(os.fspath(self.path))
        self._listener.listen(8)
        self._threads = [
            threading.Thread(target=self._accept, daemon=True),
            threading.Thread(target=self._live, daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        assert self._listener is not None
        with suppress(OSError):  # a close alone leaves the thread in accept, which takes one more
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.drop()
        self._threads[1].join(5)

    def drop(self) -> None:
        """Cut the connection, as a killed agent would."""
        with self._lock:
            if self._connection is not None:
                with suppress(OSError):
                    self._connection.shutdown(socket.SHUT_RDWR)
                self._connection = None

    def _accept(self) -> None:
        while not self._stop.is_set():
            assert self._listener is not None
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            if self._stop.is_set():
                connection.close()
                return
            self.drop()
            with self._lock:
                self._connection = connection
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        reader = requests()
        with connection:
            while True:
                try:
                    data = connection.recv(1 << 18)
                except OSError:
                    return
                if not data:
                    return
                for message in reader.feed(data):
                    with self._lock:
                        self._take(message, connection)

    def _say(self, message: AgentMessage, connection: socket.socket | None = None) -> None:
        connection = connection or self._connection
        if connection is None or self.silent:
            return
        with suppress(OSError):
            connection.sendall(encode(message))

    # -- what it is asked ------------------------------------------------------------------------

    def _take(self, message: AgentRequest, connection: socket.socket) -> None:
        match message:
            case Hello():
                host = HostFacts(
                    server="peer", boot_id=self.boot_id, cpus=16, memory_bytes=64 * GIB,
                    uid=self.uid, cgroup="v2", device_filter=True, private_dev=True,
                    simulated=True,
                )  # fmt: skip
                self._say(Welcome(PROTOCOL_VERSION, "peer", host), connection)
            case Configure():
                self.settings.append(message)
            case ListAttempts():
                states = tuple(record.state for record in self.records.values())
                self._say(Attempts(message.request, states), connection)
            case SamplesSince():
                kept = tuple(s for s in self.samples if s.taken_at > message.at)
                self._say(Samples(message.request, kept), connection)
            case Launch():
                self._launch(message, connection)
            case StopJob():
                self._end(message)
            case SignalJob():
                self.signals.append((message.job, message.attempt, message.signal))
                self._say(Done(message.request), connection)
            case ForgetJob():
                self.forgotten.append((message.job, message.attempt))
                self.records.pop((message.job, message.attempt), None)
            case Scan():
                self._say(Observed(self.observe(), message.request), connection)
            case CheckSignIn():
                uid, answer = uid_of(message.user), SignInChecked(message.request, "refused")
                if uid is not None and message.password == "right":
                    answer = SignInChecked(message.request, "accepted", message.user, uid)
                self._say(answer, connection)
            case CheckAccounts():
                found = {user: uid for user in message.users if (uid := uid_of(user)) is not None}
                self._say(AccountsChecked(message.request, found), connection)
            case AuditMachine():
                home = Home(message.user or "ann", 1, b"/home/ann", "there", 0o755, 1)
                facts = Facts(as_root=True, whose=message.user, homes=(home,))
                self._say(Audited(message.request, facts), connection)
            case MendMachine():
                mended = tuple(MendOutcome(*one, "done") for one in message.wanted)
                self._say(Mended(message.request, mended), connection)
            case UndoMends():
                self._say(Mended(message.request, ()), connection)
            case ListDisabled():
                self._say(DisabledListed(message.request, {}), connection)
            case ReadOutput():
                self._say(OutputRead(message.request, "gone"), connection)
            case ListData():
                self._say(DataSets(message.request, ()), connection)
            case AddData() | RemoveData():
                self._say(DataDone(message.request), connection)
            case FreeProcesses():
                freed = tuple(Freed(i.pid, i.start_ticks, "ended") for i in message.items)
                gone = {i.pid for i in message.items}
                self.strange = [p for p in self.strange if p.pid not in gone]
                self._say(
                    FreeResult(message.request, freed, {"GPU-0": 5 * GIB}, {"GPU-0": 0}),
                    connection,
                )
            case ReleaseDriver():
                self._say(Done(message.request), connection)
            case LookAtAccounts():
                host = HostSeen("/home", "/bin/bash", "quota_off", "/var/lib/roost/archive")
                self._say(AccountsSeen(message.request, (), host), connection)
            case ChangeAccounts():
                first = StepOutcome("failed", "this peer changes no account")
                later = (StepOutcome("not_done"),) * (len(message.steps) - 1)
                self._say(AccountsChanged(message.request, (first, *later)), connection)
            case _:  # no question stays without an answer
                refused = Refused(message.request, "unknown", "this peer does not know it")
                self._say(refused, connection)

    def _launch(self, message: Launch, connection: socket.socket) -> None:
        spec = message.spec
        key = (spec.job, spec.attempt)
        if self.refuse:
            self.refusals += 1
            self._say(Refused(message.request, self.refuse_code, self.refuse), connection)
            return
        record = self.records.get(key)
        if record is None:
            words = [word.decode("utf-8", "replace") for word in spec.argv]
            seconds = float(words[1]) if len(words) > 1 else 0.0
            code = int(words[2]) if words[2:] and words[2].isdigit() else 0
            now = time.time()
            self.executed[key] = self.executed.get(key, 0) + 1
            state = AttemptState(spec.job, spec.attempt, "running", os.getpid(), 1, now)
            on_stop = words[3] if len(words) > 3 else "die"
            record = Record(spec, state, now + seconds, code, on_stop)
            self.records[key] = record
        self._say(AttemptChanged(record.state), connection)

    def _end(self, message: StopJob) -> None:
        record = self.records.get((message.job, message.attempt))
        if record is None or record.state.end is not None:
            return
        if record.stopped is None or message.reason is EndReason.CANCELLED:
            record.stopped = message.reason
        if record.on_stop == "linger":
            kill_at = time.time() + message.grace_s
            record.kill_at = min(kill_at, record.kill_at or kill_at)
        else:
            self._finish(record, message.reason, 0 if record.on_stop == "exit" else None)

    def _finish(self, record: Record, reason: EndReason, code: int | None) -> None:
        end = AttemptEnd(
            reason=reason, ended_at=time.time(), exit_code=code,
            signal=None if code is not None else 15, done=record.on_stop == "done",
            peak_memory_bytes=GIB, cpu_s=0.5,
        )  # fmt: skip
        record.state = msgspec.structs.replace(record.state, state="ended", end=end)
        self.ended[record.spec.job, record.spec.attempt] = end
        self._say(AttemptChanged(record.state))

    def lose_all(self) -> None:
        """As after a reboot: everything without an end is LOST."""
        with self._lock:
            self.boot_id += "x"
            for record in self.records.values():
                if record.state.end is None:
                    self._finish(record, EndReason.LOST, None)
        self.drop()

    # -- what it sees ----------------------------------------------------------------------------

    def _live(self) -> None:
        last = 0.0
        while not self._stop.wait(0.005):
            now = time.time()
            with self._lock:
                for record in list(self.records.values()):
                    if record.state.end is not None:
                        continue
                    if record.kill_at is not None and now >= record.kill_at:
                        self._finish(record, record.stopped or EndReason.CANCELLED, None)
                    elif now >= record.ends_at:
                        self._finish(record, EndReason.EXITED, record.exit_code)
                if now - last >= self.sample_s:
                    last = now
                    observation = self.observe()
                    self.samples = [*self.samples[-3000:], observation]
                    self._say(Observed(observation))

    def observe(self) -> Observation:
        """All GPUs busy at 50 % with 10 GiB for each running attempt."""
        processes = []
        on: dict[str, list[GpuProcess]] = {}
        for key, record in self.records.items():
            if record.state.end is None:
                pid = 100_000 + key[0]
                processes.append(
                    ProcessFacts(
                        pid=pid, start_ticks=key[1], uid=0, user=record.spec.user, comm="job",
                        cmdline=("job",), visible=True, started_at=record.state.started_at,
                        place=Place(roost_job=key[0], roost_attempt=key[1]),
                    )
                )  # fmt: skip
                for gpu in record.spec.gpus:
                    on.setdefault(gpu.uuid, []).append(GpuProcess(pid, 10 * GIB))
        processes += self.strange
        for pid, (gpu_index, size) in self.strange_on.items():
            if any(p.pid == pid for p in processes):
                on.setdefault(f"GPU-{gpu_index}", []).append(GpuProcess(pid, size))
        readings = []
        self._energy += 1.0
        for index in range(self.gpus):
            uuid = f"GPU-{index}"
            used = sum(p.memory_bytes or 0 for p in on.get(uuid, []))
            readings.append(
                GpuReading(
                    uuid=uuid, index=index, name="Peer GPU", minor=None,
                    memory_total_bytes=80 * GIB, memory_used_bytes=used,
                    memory_free_bytes=80 * GIB - used, memory_reserved_bytes=0,
                    utilisation_percent=50 if on.get(uuid) else 0, temperature_c=40,
                    power_w=100.0, processes=tuple(on.get(uuid, [])),
                )
            )  # fmt: skip
        return Observation(
            taken_at=time.time(), boot_id=self.boot_id, server="peer",
            driver=DriverReading(DriverState.SIMULATED, "555.0"), gpus=tuple(readings),
            processes=tuple(processes), sample_s=self.sample_s,
        )  # fmt: skip
