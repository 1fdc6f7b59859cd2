"""Every check by tables: facts as they are on a good machine and on a bad one."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from roost.cli.commands import CHECKS as NAMED
from roost.core.audit.facts import (
    ContainerEngine,
    Export,
    Facts,
    FileMode,
    GpuDevices,
    Home,
    KeyFile,
    Member,
    Secret,
    Shared,
    Sshd,
    Sudo,
    SudoRule,
    Toolkit,
    Updates,
)
from roost.core.audit.host import ENVVAR
from roost.core.audit.judge import CHECKS, findings
from roost.core.audit.model import (
    Accept,
    Finding,
    HoldUpdates,
    SetKernel,
    SetMode,
    SetSshd,
    SetToolkit,
    Severity,
    acceptance,
)
from roost.core.audit.people import ROOT_GROUPS
from roost.core.audit.shown import change_of, remedy_of, risk_of, text_of

HOME = Home("ann", 1001, b"/home/ann", "there", 0o700, 1001, "ann", False)
KEY = KeyFile("ann", 1001, b"/home/ann/.ssh/id_rsa", "private", 0o600, 1001, True)
RULE = SudoRule("%sudo", ("ann",), False, ("ALL",), "/etc/sudoers", 5)
GPU = FileMode(b"/dev/nvidia0", "gpu", 0o660, 0, "root")
SSHD = {
    "permitrootlogin": "prohibit-password", "passwordauthentication": "no",
    "permitemptypasswords": "no", "strictmodes": "yes", "x11forwarding": "no",
}  # fmt: skip


def home(**more: Any) -> dict[str, Any]:
    return {"homes": (dataclasses.replace(HOME, **more),)}


def key(**more: Any) -> dict[str, Any]:
    return {"ssh_keys": (dataclasses.replace(KEY, **more),)}


def sudo(**more: Any) -> dict[str, Any]:
    return {"sudo": Sudo((dataclasses.replace(RULE, **more),))}


def gpus(mode: int, modify: str = "0", profiling: str = "1") -> dict[str, Any]:
    parameters = {
        "ModifyDeviceFiles": modify, "DeviceFileMode": "438", "RmProfilingAdminOnly": profiling,
    }  # fmt: skip
    return {"gpu_devices": GpuDevices((dataclasses.replace(GPU, mode=mode),), parameters)}


def sshd(**more: str) -> dict[str, Any]:
    return {"sshd": Sshd({**SSHD, **more}, asked=True)}


def kernel(name: str, value: str) -> dict[str, Any]:
    return {"kernel": {name: value}}


def engine(**more: Any) -> dict[str, Any]:
    return {"container_engine": ContainerEngine(**more)}


def socket(mode: int, group: str) -> dict[str, Any]:
    return engine(sockets=(FileMode(b"/run/docker.sock", "socket", mode, 0, group),))


def updates(**more: Any) -> dict[str, Any]:
    return {"driver_updates": (Updates("apt", **more),)}


HIGH, MEDIUM, LOW, NOTE = Severity
# What was found, and what is said of it; nothing is said of a good machine.
CASES: list[tuple[str, dict[str, Any], list[tuple[str, Severity]]]] = [
    ("homes", home(), []),
    ("homes", home(mode=0o750), []),
    ("homes", home(mode=0o750, shared_group=True), [("home_readable", MEDIUM)]),
    ("homes", home(mode=0o755), [("home_readable", MEDIUM)]),
    ("homes", home(mode=0o711), [("home_passable", NOTE)]),
    ("homes", home(mode=0o770, shared_group=True), [("home_writable", HIGH)]),
    ("homes", home(mode=0o777), [("home_writable", HIGH)]),
    ("homes", home(state="link"), [("home_link", NOTE)]),
    ("homes", home(state="gone"), []),
    ("homes", home(state="foreign", owner_uid=1002), [("home_foreign", MEDIUM)]),
    ("ssh-keys", key(), []),
    ("ssh-keys", key(mode=0o640), []),
    ("ssh-keys", key(mode=0o640, shared_group=True), [("key_private", HIGH)]),
    ("ssh-keys", key(mode=0o644), [("key_private", HIGH)]),
    ("ssh-keys", key(mode=0o644, reachable=False), [("key_private_within", LOW)]),
    ("ssh-keys", key(kind="authorized", mode=0o644), []),
    ("ssh-keys", key(kind="authorized", mode=0o666), [("key_authorized", HIGH)]),
    (
        "ssh-keys",
        key(kind="folder", mode=0o777, reachable=False),
        [("key_authorized_within", LOW)],
    ),
    ("ssh-keys", key(owner_uid=1002), [("key_foreign", HIGH)]),
    ("ssh-keys", key(kind="authorized", mode=0o644, owner_uid=0), []),
    ("root-groups", {"root_groups": ()}, []),
    ("root-groups", {"root_groups": (Member("docker", "bob"),)}, [("group_docker", HIGH)]),
    (
        "root-groups",
        {"root_groups": (Member("docker", "bob", admin=True),)},
        [("group_admin", NOTE)],
    ),
    ("sudo", sudo(), [("sudo_all", NOTE)]),
    ("sudo", sudo(who="root", people=()), []),
    ("sudo", sudo(people=()), []),
    ("sudo", sudo(nopasswd=True), [("sudo_all_nopasswd", MEDIUM)]),
    ("sudo", sudo(who="ALL", nopasswd=True), [("sudo_all_nopasswd", HIGH)]),
    ("sudo", sudo(commands=("ALL", "!/bin/su")), [("sudo_forbidden", MEDIUM)]),
    ("sudo", sudo(commands=("/usr/bin/vim /etc/hosts",), nopasswd=True), [("sudo_shell", MEDIUM)]),
    ("sudo", sudo(commands=("/usr/bin/python3.11",), nopasswd=True), [("sudo_shell", MEDIUM)]),
    ("sudo", sudo(commands=("/opt/lab/*",), nopasswd=True), [("sudo_shell", MEDIUM)]),
    (
        "sudo",
        sudo(commands=("/usr/local/bin/mount-scratch",), nopasswd=True),
        [("sudo_nopasswd", NOTE)],
    ),
    ("sudo", sudo(commands=("/usr/bin/vim",)), []),
    (
        "sudo",
        {"sudo": Sudo(files=(FileMode(b"/etc/sudoers", "sudoers", 0o460, 0),))},
        [("sudoers_writable", HIGH)],
    ),
    ("sudo", {"sudo": Sudo(files=(FileMode(b"/etc/sudoers", "sudoers", 0o440, 0),))}, []),
    ("sudo", {"sudo": Sudo(mistakes=("/etc/sudoers:9",))}, [("sudoers_unread", NOTE)]),
    ("gpu-devices", gpus(0o660), []),
    ("gpu-devices", gpus(0o666), [("gpu_open", LOW)]),
    ("gpu-devices", gpus(0o660, modify="1"), [("gpu_reset", MEDIUM)]),
    ("gpu-devices", gpus(0o660, profiling="0"), [("gpu_profiling", NOTE)]),
    ("gpu-devices", {"gpu_devices": GpuDevices()}, []),
    (
        "gpu-devices",
        {"gpu_devices": GpuDevices((FileMode(b"/dev/c1", "mig_config", 0o444, 0),))},
        [("mig_open", MEDIUM)],
    ),
    (
        "gpu-devices",
        {"gpu_devices": GpuDevices((FileMode(b"/dev/c1", "mig_config", 0o400, 0),))},
        [],
    ),
    ("container-toolkit", {"container_toolkit": ()}, []),
    ("container-toolkit", {"container_toolkit": (Toolkit(b"/c", False, False),)}, []),
    (
        "container-toolkit",
        {"container_toolkit": (Toolkit(b"/c", True, False),)},
        [("toolkit_envvar", MEDIUM)],
    ),
    (
        "container-toolkit",
        {"container_toolkit": (Toolkit(b"/c", False, True),)},
        [("toolkit_mounts", MEDIUM)],
    ),
    (
        "container-toolkit",
        {"container_toolkit": (Toolkit(b"/c", False, False, "no TOML"),)},
        [("toolkit_unread", NOTE)],
    ),
    ("container-engine", socket(0o660, "docker"), []),
    ("container-engine", socket(0o666, "docker"), [("socket_open", HIGH)]),
    ("container-engine", socket(0o660, "users"), [("socket_group", MEDIUM)]),
    ("container-engine", engine(tcp=("tcp://0.0.0.0:2375",)), [("engine_tcp", HIGH)]),
    ("container-engine", engine(default_runtime="nvidia"), [("engine_runtime", MEDIUM)]),
    ("container-engine", engine(default_runtime="runc"), []),
    (
        "shared-folders",
        {"shared_folders": (Shared(b"/data/a", "folder", 0o777, 0, "root"),)},
        [("shared_folder", MEDIUM)],
    ),
    (
        "shared-folders",
        {"shared_folders": (Shared(b"/data/a", "file", 0o666, 0, "root"),)},
        [("shared_file", LOW)],
    ),
    ("shared-folders", {"shared_folders": ()}, []),
    *(
        (
            "command-secrets",
            {"command_secrets": (Secret(where, "7", "ann", "aws", "x … ****"),)},
            [(f"secret_{where}", MEDIUM)],
        )
        for where in ("process", "cron", "job")
    ),
    ("command-secrets", {"command_secrets": ()}, []),
    ("processes-visible", {"hidepid": "0"}, [("proc_open", LOW)]),
    ("processes-visible", {"hidepid": "invisible"}, []),
    ("processes-visible", {"hidepid": "2"}, []),
    ("sshd", sshd(), []),
    ("sshd", {"sshd": None}, []),
    ("sshd", sshd(permitrootlogin="yes"), []),  # by key alone
    ("sshd", sshd(passwordauthentication="yes"), [("sshd_password", LOW)]),
    (
        "sshd",
        sshd(passwordauthentication="yes", permitrootlogin="yes"),
        [("sshd_root", MEDIUM), ("sshd_password", LOW)],
    ),
    ("sshd", sshd(permitemptypasswords="yes"), [("sshd_empty", HIGH)]),
    ("sshd", sshd(strictmodes="no"), [("sshd_strict", MEDIUM)]),
    ("sshd", sshd(x11forwarding="yes"), [("sshd_x11", NOTE)]),
    ("driver-updates", {"driver_updates": ()}, []),
    ("driver-updates", updates(), []),
    ("driver-updates", updates(driver=("libnvidia-x",)), [("updates_driver_apt", MEDIUM)]),
    (
        "driver-updates",
        {"driver_updates": (Updates("dnf", ("nvidia-driver",)),)},
        [("updates_driver_dnf", MEDIUM)],
    ),
    ("driver-updates", updates(kernel=("linux-image-x",)), [("updates_kernel", NOTE)]),
    ("driver-updates", updates(reboot=True), [("updates_reboot", HIGH)]),
    ("core-dumps", kernel("fs.suid_dumpable", "2"), []),
    ("core-dumps", kernel("fs.suid_dumpable", "1"), [("dump_suid", MEDIUM)]),
    (
        "core-dumps",
        {"core_folder": FileMode(b"/tmp", "cores", 0o1777, 0)},
        [("dump_folder", LOW)],
    ),
    ("core-dumps", {"core_folder": FileMode(b"/var/crash", "cores", 0o700, 0)}, []),
    ("ptrace", kernel("kernel.yama.ptrace_scope", "0"), [("ptrace_open", NOTE)]),
    ("ptrace", kernel("kernel.yama.ptrace_scope", "1"), []),
    ("ptrace", {"kernel": {}}, []),
    ("kernel-leaks", kernel("kernel.dmesg_restrict", "0"), [("leak_dmesg", NOTE)]),
    ("kernel-leaks", kernel("kernel.dmesg_restrict", "1"), []),
    ("kernel-leaks", kernel("kernel.perf_event_paranoid", "-1"), [("leak_perf", NOTE)]),
    ("kernel-leaks", kernel("kernel.perf_event_paranoid", "2"), []),
    ("tmp", {"tmp": (FileMode(b"/tmp", "tmp", 0o1777, 0),)}, []),
    ("tmp", {"tmp": (FileMode(b"/tmp", "tmp", 0o777, 0),)}, [("tmp_loose", HIGH)]),
    ("nfs-exports", {"nfs_exports": (Export("/home", "*", True),)}, []),
    ("nfs-exports", {"nfs_exports": (Export("/home", "*", False),)}, [("nfs_root", HIGH)]),
    ("nfs-exports", {"nfs_exports": (Export("/home", "n1", False),)}, [("nfs_root", MEDIUM)]),
    ("roost-files", {"roost_files": (FileMode(b"/s", "secret", 0o640, 0, "roost"),)}, []),
    (
        "roost-files",
        {"roost_files": (FileMode(b"/s", "secret", 0o644, 0, "roost"),)},
        [("own_secret", HIGH)],
    ),
    ("roost-files", {"roost_files": (FileMode(b"/r", "file", 0o644, 0, "root"),)}, []),
    (
        "roost-files",
        {"roost_files": (FileMode(b"/r", "file", 0o664, 0, "root"),)},
        [("own_writable", HIGH)],
    ),
]


@pytest.mark.parametrize(("check", "fields", "said"), CASES)
def test_what_is_said_of(
    check: str, fields: dict[str, Any], said: list[tuple[str, Severity]]
) -> None:
    found = findings(Facts(as_root=True, **fields), (check,))
    assert [(one.code, one.severity) for one in found] == said
    for one in found:
        assert one.check == check
        assert one.change is None or CHECKS[check].fixes
        for language in ("en", "zh"):
            for words in (text_of, risk_of, remedy_of):
                assert words(language, one)
            assert one.change is None or change_of(language, one.change)


def test_every_check_has_a_bad_and_a_good_case_and_is_named_by_the_command() -> None:
    assert tuple(CHECKS) == NAMED
    assert {check for check, _, said in CASES if said} == set(CHECKS)
    assert {check for check, _, said in CASES if not said} == set(CHECKS)


@pytest.mark.parametrize("group", ROOT_GROUPS)
def test_each_group_is_explained(group: str) -> None:
    (found,) = findings(Facts(True, root_groups=(Member(group, "bob"),)))
    assert found.severity is Severity.HIGH
    assert risk_of("en", found)
    assert remedy_of("en", found).startswith(f"gpasswd -d bob {group}")


def test_open_devices_are_a_hole_where_the_rules_are_strict() -> None:
    facts = Facts(True, **gpus(0o666, modify="1"))
    said = [(one.code, one.severity) for one in findings(facts, (), "strict")]
    assert said == [("gpu_reset", HIGH), ("gpu_open", HIGH)] or said == [
        ("gpu_open", HIGH), ("gpu_reset", HIGH),
    ]  # fmt: skip
    assert [one.code for one in findings(facts, (), "observe")] == ["gpu_open"]


def test_the_worst_comes_first() -> None:
    facts = Facts(
        True, homes=(HOME, dataclasses.replace(HOME, user="bob", mode=0o777)), hidepid="0",
        root_groups=(Member("docker", "bob"),), kernel={"kernel.dmesg_restrict": "0"},
    )  # fmt: skip
    assert [one.code for one in findings(facts)] == [
        "home_writable", "group_docker", "proc_open", "leak_dmesg",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "change"),
    [
        (home(mode=0o755), SetMode(b"/home/ann", 1001, 0o755, clear=0o007, folder=True)),
        (
            home(mode=0o775, shared_group=True),
            SetMode(b"/home/ann", 1001, 0o775, clear=0o077, folder=True),
        ),
        (key(mode=0o644), SetMode(KEY.path, 1001, 0o644, clear=0o077)),
        (
            {"container_toolkit": (Toolkit(b"/c", True, False),)},
            SetToolkit(b"/c", ENVVAR, "true", "false"),
        ),
        (updates(driver=("nvidia-driver-550",)), HoldUpdates(("nvidia-driver-550",))),
        (kernel("fs.suid_dumpable", "1"), SetKernel("fs.suid_dumpable", "1", "2")),
        (
            sshd(permitrootlogin="yes", passwordauthentication="yes"),
            SetSshd("PermitRootLogin", "yes", "prohibit-password"),
        ),
    ],
)
def test_a_fix_does_this_and_no_more(fields: dict[str, Any], change: object) -> None:
    assert [one.change for one in findings(Facts(True, **fields)) if one.change] == [change]
    assert [one.change for one in findings(Facts(False, **fields)) if one.change] == []


def test_a_name_cannot_smuggle_a_command_into_the_remedy() -> None:
    for path in (
        b"/home/a'; rm -rf $HOME; '",
        b"/home/a\nb",
        b"/home/\xff$(id)",
        b"/home/\xc2\x9b",
    ):
        (found,) = findings(Facts(True, **home(path=path, mode=0o755)))
        word = remedy_of("en", found).removeprefix("chmod 0750 ")
        import subprocess

        done = subprocess.run(
            ["bash", "-c", f"printf %s {word}"], capture_output=True, check=True, timeout=10
        )
        assert done.stdout == path
        assert text_of("en", found).isprintable()


def test_what_the_rules_accept() -> None:
    found = Finding("homes", "home_readable", Severity.MEDIUM, "ann")
    all_of, one, other = (
        Accept("homes", "x"),
        Accept("homes", "y", "ann"),
        Accept("homes", "z", "b"),
    )
    assert acceptance(found, (other, one, all_of)) is one
    assert acceptance(found, (all_of,)) is all_of
    assert acceptance(found, (other, Accept("tmp", "x"))) is None
