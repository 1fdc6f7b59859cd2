"""The closed list of what server and agent say to each other.

Frames: 4 bytes of length, big-endian, then one msgpack document (`roost.wire.frames`). The agent
trusts nothing here: every field is checked again in the agent before root acts on it.
"""

from __future__ import annotations

import msgspec

from roost.core.model import EndReason
from roost.core.observation import Observation
from roost.wire.accounts import (
    AccountsChanged,
    AccountsSeen,
    ChangeAccounts,
    DisabledListed,
    ListDisabled,
    LookAtAccounts,
)
from roost.wire.audit import Audited, AuditMachine, Mended, MendMachine, UndoMends
from roost.wire.base import ToAgent, ToServer
from roost.wire.data import AddData, DataDone, DataSets, ListData, RemoveData

PROTOCOL_VERSION = 1
MAX_FRAME_BYTES = 64 * 1024 * 1024


# -- server to agent ---------------------------------------------------------------------------


class Hello(ToAgent, frozen=True, tag="hello"):
    version: int
    server_id: str


class Configure(ToAgent, frozen=True, tag="configure"):
    """How to observe and launch. Sent after Hello and when the rules change."""

    sample_s: float = 1.0
    shared_gpus: tuple[str, ...] = ()
    enforcement: str = "observe"


class GpuGrant(msgspec.Struct, frozen=True):
    uuid: str
    memory_bytes: int | None = None


class SourceFile(msgspec.Struct, frozen=True):
    """What was to run, as the client saw it at submission; hashed again when it starts."""

    path: str
    sha256: str
    git_commit: str | None = None
    git_dirty: bool | None = None


class LaunchSpec(msgspec.Struct, frozen=True):
    """All that is needed to run one attempt of a job. (job, attempt) is launched at most once.

    `env_path`: the environment to run in, absolute or "~/…" for the user's home; "" for none.
    `user` is a name; the agent looks up uid, gid, groups, home and shell itself. Exactly one of
    `argv` and `script` is set. Bytes are used where Unix allows any byte.
    """

    job: int
    attempt: int
    user: str
    group: str
    priority_class: str
    argv: tuple[bytes, ...] = ()
    script: bytes | None = None
    script_args: tuple[bytes, ...] = ()
    name: str = ""
    environment: dict[bytes, bytes] = {}
    directory: bytes = b""
    output: bytes | None = None
    umask: int | None = None
    gpus: tuple[GpuGrant, ...] = ()
    cpus: int = 0
    memory_bytes: int | None = None
    max_processes: int | None = None
    walltime_s: float | None = None
    warn_signal: int | None = None
    warn_before_s: float = 60.0
    stop_signal: int = 15
    kill_wait_s: float = 30.0
    saving_limit_s: float = 300.0
    pty: bool = False
    rows: int = 24
    columns: int = 80
    restart_count: int = 0
    array_id: int | None = None
    array_index: int | None = None
    source: SourceFile | None = None
    gpu_compute_percent: int | None = None
    env: str = ""
    env_path: bytes = b""


class Launch(ToAgent, frozen=True, tag="launch"):
    """Idempotent: a known (job, attempt) is answered by what it is doing, never started again."""

    spec: LaunchSpec
    request: int = 0


class StopJob(ToAgent, frozen=True, tag="stop_job"):
    """Signal, grace, then SIGKILL to all of the attempt's processes, by its supervisor."""

    job: int
    attempt: int
    reason: EndReason
    grace_s: float
    request: int = 0


class SuspendJob(ToAgent, frozen=True, tag="suspend_job"):
    """Stops all of the attempt's processes where they are: its state is then "suspended", and its
    walltime stands still. A second one changes nothing.

    `how`: "freeze", its memory on the GPUs stays; or "checkpoint", that is moved into the memory of
    the host first, where the host can (`HostFacts.cuda_checkpoint`). What cannot be done leaves the
    attempt running, and is told by `AttemptState.refusal`.
    """

    job: int
    attempt: int
    how: str = "freeze"
    request: int = 0


class ResumeJob(ToAgent, frozen=True, tag="resume_job"):
    """Lets a suspended attempt go on. One that is not suspended goes on as it does."""

    job: int
    attempt: int
    request: int = 0


class SignalJob(ToAgent, frozen=True, tag="signal_job"):
    job: int
    attempt: int
    signal: int
    request: int = 0


class ForgetJob(ToAgent, frozen=True, tag="forget_job"):
    """The end of this attempt is in the database: its record may go."""

    job: int
    attempt: int
    request: int = 0


class ListAttempts(ToAgent, frozen=True, tag="list_attempts"):
    request: int


class SamplesSince(ToAgent, frozen=True, tag="samples_since"):
    """Observations kept in the agent's memory that were taken after `at`, oldest first."""

    at: float
    request: int


class Scan(ToAgent, frozen=True, tag="scan"):
    """Search every process for GPU devices now and answer with a complete observation."""

    request: int


class FreeItem(msgspec.Struct, frozen=True):
    """One process to end, by identity, with why it belongs to that GPU.

    `container_id`: it is the main process of that container, which its engine is asked to stop.
    """

    pid: int
    start_ticks: int
    gpu_uuid: str
    evidence: str
    container_id: str | None = None


class FreeProcesses(ToAgent, frozen=True, tag="free_processes"):
    """End exactly these: identity, owner and hold on the GPU are checked again before each signal.

    `only_uid` None is an operator's call; else processes of any other uid are refused.
    """

    items: tuple[FreeItem, ...]
    grace_s: float
    only_uid: int | None
    request: int


class ReleaseDriver(ToAgent, frozen=True, tag="release_driver"):
    """Let go of NVML (`hold` False), so that a GPU can be reset or MIG changed, or take it up."""

    hold: bool
    request: int


class CheckSignIn(ToAgent, frozen=True, tag="check_sign_in"):
    """Whether this is the password of that account, and the account may sign in now.

    The agent limits how often it answers for one account; `address` is where the person sits, as
    the server says, and only goes on record. The password is shown by no text of this message.
    """

    user: str
    password: str
    address: str
    request: int

    def __repr__(self) -> str:
        return f"CheckSignIn(user={self.user!r}, address={self.address!r})"


class CheckAccounts(ToAgent, frozen=True, tag="check_accounts"):
    """Which of these accounts may still use what they were once let in with."""

    users: tuple[str, ...]
    request: int


class ReadOutput(ToAgent, frozen=True, tag="read_output"):
    """A piece of a job's output, read with the rights of `user`, whose uid must be `uid`.

    `offset` None: its last `limit` bytes, as where the file is not `file` any more. Where there is
    nothing new, the answer waits for it for `wait_s`.
    """

    user: str
    uid: int
    path: bytes
    offset: int | None
    limit: int
    file: str = ""
    wait_s: int = 0
    request: int = 0


# -- agent to server ---------------------------------------------------------------------------


class HostFacts(msgspec.Struct, frozen=True):
    server: str
    boot_id: str
    cpus: int
    memory_bytes: int
    uid: int
    cgroup: str
    device_filter: bool
    private_dev: bool
    simulated: bool
    limits: tuple[str, ...] = ()
    freezer: bool = False
    cuda_checkpoint: bool = False


class Welcome(ToServer, frozen=True, tag="welcome"):
    version: int
    agent_version: str
    host: HostFacts


class Observed(ToServer, frozen=True, tag="observed"):
    """One look at the host; `request` names the Scan that it answers, 0 is the usual sample."""

    observation: Observation
    request: int = 0


class AttemptState(msgspec.Struct, frozen=True):
    """What the agent knows of an attempt: "preparing", "running", "suspended" or "ended".

    `suspended_s`: how long it was suspended before, in all; `suspended_at`: since when it is now.
    `refusal`: why it could not be suspended when that was last asked, in English; "" else.
    """

    job: int
    attempt: int
    state: str
    pid: int | None = None
    start_ticks: int | None = None
    started_at: float | None = None
    checkpointed_at: float | None = None
    source_changed: bool | None = None
    end: AttemptEnd | None = None
    suspended_at: float | None = None
    suspended_s: float = 0.0
    refusal: str = ""


class AttemptEnd(msgspec.Struct, frozen=True):
    """How an attempt ended. `done` is True where the job itself declared its work finished.

    `text` explains a launch that failed, for its user, in English; `message` and `numbers` say the
    same in any language (`say(language, end.message, **end.numbers)`); `message` "" has no other.
    Memory and CPU are those of its cgroup.
    """

    reason: EndReason
    ended_at: float
    exit_code: int | None = None
    signal: int | None = None
    done: bool = False
    peak_memory_bytes: int | None = None
    cpu_s: float | None = None
    text: str = ""
    message: str = ""
    numbers: dict[str, str] = {}


class AttemptChanged(ToServer, frozen=True, tag="attempt_changed"):
    """Sent at start, checkpoint, suspension and end; an end is repeated after reconnects until
    ForgetJob."""

    attempt: AttemptState


class Attempts(ToServer, frozen=True, tag="attempts"):
    request: int
    attempts: tuple[AttemptState, ...]


class Samples(ToServer, frozen=True, tag="samples"):
    request: int
    observations: tuple[Observation, ...]


class Freed(msgspec.Struct, frozen=True):
    """What became of one process: "ended", "gone", "refused" or "survived", and why."""

    pid: int
    start_ticks: int
    outcome: str
    text: str = ""


class FreeResult(ToServer, frozen=True, tag="free_result"):
    """`memory_before_bytes` and `memory_after_bytes` per GPU: what really came back."""

    request: int
    processes: tuple[Freed, ...]
    memory_before_bytes: dict[str, int] = msgspec.field(default_factory=dict)
    memory_after_bytes: dict[str, int] = msgspec.field(default_factory=dict)


class SignInChecked(ToServer, frozen=True, tag="sign_in_checked"):
    """`outcome` "accepted", with the account as the machine knows it; "refused", whatever the
    reason is; "limited": not looked at, too many tries; "unavailable": it could not be found out.
    """

    request: int
    outcome: str
    user: str = ""
    uid: int = -1


class AccountsChecked(ToServer, frozen=True, tag="accounts_checked"):
    """uids of those that may; who is not in it is gone, locked, expired or barred."""

    request: int
    standing: dict[str, int]


class OutputRead(ToServer, frozen=True, tag="output_read"):
    """`state` "open", with the bytes from `offset` on; "gone"; "no_file": no regular file;
    "unreadable" to its own user, and `why`; "slow": no answer in time; "busy": too many at once.

    `file` says which file it is: another one has another name.
    """

    request: int
    state: str
    data: bytes = b""
    offset: int = 0
    size: int = 0
    file: str = ""
    why: str = ""


class Done(ToServer, frozen=True, tag="done"):
    request: int


class Refused(ToServer, frozen=True, tag="refused"):
    """`code` is stable for programs; `text` is for a person, in English."""

    request: int
    code: str
    text: str


AgentRequest = (
    Hello | Configure | Launch | StopJob | SuspendJob | ResumeJob | SignalJob | ForgetJob
    | ListAttempts | SamplesSince | Scan | FreeProcesses | ReleaseDriver | CheckSignIn
    | CheckAccounts | ReadOutput | AuditMachine | MendMachine | UndoMends
    | AddData | ListData | RemoveData
    | LookAtAccounts | ChangeAccounts | ListDisabled
)  # fmt: skip
AgentMessage = (
    Welcome | Observed | AttemptChanged | Attempts | Samples | FreeResult | SignInChecked
    | AccountsChecked | OutputRead | Audited | Mended | DataSets | DataDone | Done | Refused
    | AccountsSeen | AccountsChanged | DisabledListed
)  # fmt: skip
