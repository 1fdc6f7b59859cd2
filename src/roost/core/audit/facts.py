"""What a look at a machine's posture found, check by check; no judgement.

Paths are bytes, as people may call their files anything. A field is None where that check was not
made; `Facts.unseen` says why. No secret is in here: what was found of one is masked already.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Unseen:
    """A check that could not be made: `why` "needs_root", "slow", "failed" or "cut_off" (what was
    found until then counts)."""

    check: str
    why: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Home:
    """`state`: "there", "gone", "link" (not followed), "foreign" (owned by `owner_uid`, another
    account). `shared_group`: somebody else is in the folder's group."""

    user: str
    uid: int
    path: bytes
    state: str
    mode: int = 0
    owner_uid: int = -1
    group: str = ""
    shared_group: bool = False


@dataclass(frozen=True, slots=True)
class KeyFile:
    """`kind`: "private" (a private key), "authorized" (authorized_keys), "folder" (~/.ssh).
    `reachable`: others can get as far as to it. `shared_group` as in Home."""

    user: str
    uid: int
    path: bytes
    kind: str
    mode: int
    owner_uid: int
    reachable: bool
    shared_group: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """`user`, a person's account, is in `group`, one of those that are as good as root. `admin`: by
    sudo that person may do everything anyway."""

    group: str
    user: str
    admin: bool = False


@dataclass(frozen=True, slots=True)
class SudoRule:
    """One line of sudoers. `who`: "alice", "%sudo", "ALL". `commands` as written; `("ALL",)` is
    everything, a "!" before one forbids it. `people`: accounts of people that it speaks of."""

    who: str
    people: tuple[str, ...]
    nopasswd: bool
    commands: tuple[str, ...]
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class FileMode:
    """`kind` says what it is to the check that looked."""

    path: bytes
    kind: str
    mode: int
    uid: int
    group: str = ""


@dataclass(frozen=True, slots=True)
class Sudo:
    rules: tuple[SudoRule, ...] = ()
    files: tuple[FileMode, ...] = ()
    mistakes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GpuDevices:
    """`parameters`: those of /proc/driver/nvidia/params, None without a driver. `devices`: kind
    "gpu", "control", "uvm", "mig_config"."""

    devices: tuple[FileMode, ...] = ()
    parameters: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Toolkit:
    """nvidia-container-toolkit. `envvar`: an image's or a person's NVIDIA_VISIBLE_DEVICES is
    believed without privileges. `mounts`: GPUs can be asked for by mounts."""

    path: bytes
    envvar: bool
    mounts: bool
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class ContainerEngine:
    """`tcp`: addresses that the engine listens on without checking who calls (no tlsverify).
    `default_runtime`: of Docker's daemon.json."""

    sockets: tuple[FileMode, ...] = ()
    tcp: tuple[str, ...] = ()
    default_runtime: str = ""


@dataclass(frozen=True, slots=True)
class Shared:
    """Something that everybody may write. `kind` "folder" (without sticky bit) or "file"."""

    path: bytes
    kind: str
    mode: int
    uid: int
    user: str


@dataclass(frozen=True, slots=True)
class Secret:
    """`where` "process", "cron" or "job", `which` its number or file. `kind`: what it looks like.
    `shown`: the command with the secret masked."""

    where: str
    which: str
    user: str
    kind: str
    shown: str


@dataclass(frozen=True, slots=True)
class Sshd:
    """`settings` by keyword in small letters, what sshd goes by. `asked`: told by `sshd -T`, else
    read from the files."""

    settings: dict[str, str]
    asked: bool


@dataclass(frozen=True, slots=True)
class Updates:
    """Updates that happen by themselves. `manager` "apt" or "dnf"; `driver`, `kernel`: installed
    packages that these may update; `reboot`: the machine is rebooted for them."""

    manager: str
    driver: tuple[str, ...] = ()
    kernel: tuple[str, ...] = ()
    reboot: bool = False


@dataclass(frozen=True, slots=True)
class Export:
    path: str
    client: str
    root_squash: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """`whose`: an account that asks for its own things alone, "" the whole machine. `kept`: checks
    and subjects of fixes that can be undone. `kernel`: values of sysctls by name."""

    as_root: bool
    whose: str = ""
    unseen: tuple[Unseen, ...] = ()
    homes: tuple[Home, ...] | None = None
    ssh_keys: tuple[KeyFile, ...] | None = None
    root_groups: tuple[Member, ...] | None = None
    sudo: Sudo | None = None
    gpu_devices: GpuDevices | None = None
    container_toolkit: tuple[Toolkit, ...] | None = None
    container_engine: ContainerEngine | None = None
    shared_folders: tuple[Shared, ...] | None = None
    command_secrets: tuple[Secret, ...] | None = None
    hidepid: str | None = None
    sshd: Sshd | None = None
    driver_updates: tuple[Updates, ...] | None = None
    kernel: dict[str, str] | None = None
    core_folder: FileMode | None = None
    tmp: tuple[FileMode, ...] | None = None
    nfs_exports: tuple[Export, ...] | None = None
    roost_files: tuple[FileMode, ...] | None = None
    kept: tuple[tuple[str, str], ...] = field(default=())
