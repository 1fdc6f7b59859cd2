"""The collectors on a prepared tree that looks like a machine: a bad one, and a good one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roost.core.audit.facts import Facts
from roost.core.audit.judge import CHECKS, findings
from roost.machine.audit import folders, sudoers, system
from roost.machine.audit.look import COLLECT, Question, look
from roost.machine.audit.tree import Tree

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: owners of files")
PASSWD = """root:x:0:0::/root:/bin/bash
daemon:x:1:1::/usr/sbin:/usr/sbin/nologin
ann:x:4001:4001::/home/ann:/bin/bash
bob:x:4002:100::/home/bob:/bin/bash
"""
GROUP = "root:x:0:\nsudo:x:27:ann\ndocker:x:999:ann,bob\nusers:x:100:ann\nann:x:4001:\n"
SUDOERS = r"""
# a comment
Defaults env_reset
User_Alias TEAM = ann, bob
Cmnd_Alias SAFE = /usr/local/bin/reset-gpu, \
                  /usr/local/bin/mount-scratch
Runas_Alias OPS = root, www
root ALL=(ALL:ALL) ALL
%sudo ALL=(ALL:ALL) NOPASSWD: ALL
TEAM ALL=(OPS) NOPASSWD: SAFE, PASSWD: /usr/bin/vim /etc/motd
bob gpu1,gpu2=(www) NOPASSWD: ALL
%#100 h1 = (root : adm) /bin/ls x=1 : h2 = NOPASSWD: /bin/cat
this is no line
@includedir /etc/sudoers.d
"""


def write(root: Path, path: str, text: str = "", mode: int = 0o644) -> Path:
    file = root / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)
    return file


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    write(tmp_path, "/etc/passwd", PASSWD)
    write(tmp_path, "/etc/group", GROUP)
    return Tree(str(tmp_path))


def said(tree: Tree, *checks: str, places: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    facts = look(Question(checks=checks, root=tree.root, places=places))
    assert facts.unseen == (), facts.unseen
    return [(one.code, one.subject) for one in findings(facts, checks)]


def test_every_check_has_its_collector_and_an_empty_tree_raises_no_alarm(tree: Tree) -> None:
    assert set(COLLECT) == set(CHECKS)
    facts = look(Question(root=tree.root))
    assert facts.unseen == ()
    at_risk = {one.code for one in findings(facts) if one.check != "root-groups"}
    assert at_risk == {"proc_open"}  # an empty /proc has no hidepid


def test_sudoers_as_sudo_reads_it(tree: Tree) -> None:
    root = Path(tree.root)
    write(root, "/etc/sudoers", SUDOERS, 0o440)
    write(root, "/etc/sudoers.d/lab", "bob ALL = NOPASSWD: /usr/bin/docker\n", 0o440)
    write(root, "/etc/sudoers.d/old~", "bob ALL = NOPASSWD: ALL\n", 0o440)
    write(root, "/etc/sudoers.d/a.bak", "bob ALL = NOPASSWD: ALL\n", 0o440)
    found = sudoers.sudo(tree)
    assert found.mistakes == ("/etc/sudoers:13",)
    rules = [(one.who, one.people, one.nopasswd, one.commands) for one in found.rules]
    safe = ("/usr/local/bin/reset-gpu", "/usr/local/bin/mount-scratch")
    assert rules == [
        ("root", (), False, ("ALL",)),
        ("%sudo", ("ann",), True, ("ALL",)),
        ("ann", ("ann",), True, safe),
        ("ann", ("ann",), False, ("/usr/bin/vim /etc/motd",)),
        ("bob", ("bob",), True, safe),
        ("bob", ("bob",), False, ("/usr/bin/vim /etc/motd",)),
        ("%#100", ("ann", "bob"), True, ("/bin/cat",)),
        ("%#100", ("ann", "bob"), False, ("/bin/ls x=1",)),
        ("bob", ("bob",), True, ("/usr/bin/docker",)),
    ]
    assert sudoers.admins(tree) == {"ann"}
    members = system.root_groups(tree)
    assert [(one.user, one.admin) for one in members] == [("ann", True), ("bob", False)]


def test_an_alias_that_names_itself_ends(tree: Tree) -> None:
    write(Path(tree.root), "/etc/sudoers", "User_Alias A = B\nUser_Alias B = A\nA ALL = ALL\n")
    assert len(sudoers.sudo(tree).rules) <= 1
    write(Path(tree.root), "/etc/sudoers", "@include /etc/sudoers\nann ALL = ALL\n")
    assert sudoers.admins(tree) == {"ann"}


@root_only
def test_device_files_and_what_the_driver_makes_of_them(tree: Tree) -> None:
    root = Path(tree.root)
    (root / "dev/nvidia-caps").mkdir(parents=True)
    for name, mode in (
        ("nvidia0", 0o666),
        ("nvidiactl", 0o666),
        ("nvidia-caps/nvidia-cap3", 0o444),
    ):
        os.mknod(root / "dev" / name, 0o600 | 0o020000, os.makedev(1, 3))
        (root / "dev" / name).chmod(mode)
    write(root, "/proc/driver/nvidia-caps/mig-minors", "config 3\nmonitor 2\ngpu0/gi0/access 4\n")
    write(root, "/proc/driver/nvidia/params", "ModifyDeviceFiles: 1\nDeviceFileMode: 438\n")
    codes = [("mig_open", "/dev/nvidia-caps/nvidia-cap3"), ("gpu_open", "gpus")]
    assert said(tree, "gpu-devices") == codes
    (root / "dev/nvidia0").chmod(0o660)
    (root / "dev/nvidia-caps/nvidia-cap3").chmod(0o400)
    assert said(tree, "gpu-devices") == [("gpu_reset", "driver")]
    write(root, "/proc/driver/nvidia/params", "ModifyDeviceFiles: 0\nDeviceFileMode: 432\n")
    assert said(tree, "gpu-devices") == []


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("", ["toolkit_envvar"]),  # its own default
        ("accept-nvidia-visible-devices-envvar-when-unprivileged = false\n", []),
        ("#accept-nvidia-visible-devices-envvar-when-unprivileged = false\n", ["toolkit_envvar"]),
        (
            "accept-nvidia-visible-devices-envvar-when-unprivileged = false\n"
            "accept-nvidia-visible-devices-as-volume-mounts = true\n",
            ["toolkit_mounts"],
        ),
        ("not toml [", ["toolkit_unread"]),
    ],
)
def test_the_toolkit_by_its_file(tree: Tree, text: str, codes: list[str]) -> None:
    assert said(tree, "container-toolkit") == []
    write(Path(tree.root), system.TOOLKIT, text)
    assert [code for code, _ in said(tree, "container-toolkit")] == codes


def test_docker_by_its_file_and_its_options(tree: Tree) -> None:
    root = Path(tree.root)
    hosts = '"hosts": ["unix:///run/docker.sock", "tcp://0.0.0.0:2375"]'
    write(root, system.DAEMON, f'{{"default-runtime": "nvidia", {hosts}}}')
    write(root, "/run/docker.sock", "", 0o666)
    assert {code for code, _ in said(tree, "container-engine")} == {
        "socket_open", "engine_tcp", "engine_runtime",
    }  # fmt: skip
    write(root, system.DAEMON, f'{{"tlsverify": true, {hosts}}}')
    (root / "run/docker.sock").chmod(0o600)
    assert said(tree, "container-engine") == []
    if os.geteuid() == 0:
        write(root, "/proc/77/cmdline", "/usr/bin/dockerd\0-H\0tcp://10.0.0.1:2375\0")
        assert said(tree, "container-engine") == [("engine_tcp", "tcp://10.0.0.1:2375")]
        write(root, "/proc/77/cmdline", "/usr/bin/dockerd\0--tlsverify\0-H\0tcp://10.0.0.1:2376\0")
        assert said(tree, "container-engine") == []


def test_sshd_by_its_files_the_first_word_counts(tree: Tree) -> None:
    root = Path(tree.root)
    assert said(tree, "sshd") == []
    write(
        root, system.SSHD,
        "Include /etc/ssh/sshd_config.d/*.conf\n#PermitEmptyPasswords yes\nPermitRootLogin no\n"
        "X11Forwarding=yes\nMatch User deploy\n  PermitEmptyPasswords yes\n",
    )  # fmt: skip
    write(root, "/etc/ssh/sshd_config.d/50-cloud.conf", "PermitRootLogin yes\n")
    assert said(tree, "sshd") == [
        ("sshd_root", "PermitRootLogin"), ("sshd_password", "PasswordAuthentication"),
        ("sshd_x11", "X11Forwarding"),
    ]  # fmt: skip
    write(root, "/etc/ssh/sshd_config.d/10-lab.conf", "PasswordAuthentication no\n")
    assert said(tree, "sshd") == [("sshd_x11", "X11Forwarding")]


@pytest.mark.skipif(not Path("/usr/bin/apt-config").exists(), reason="needs apt")
def test_unattended_upgrades_of_the_driver(tree: Tree) -> None:
    root = Path(tree.root)
    packages = "".join(
        f"Package: {name}\nStatus: {state} ok installed\n\n"
        for name, state in (
            ("nvidia-driver-550", "install"), ("libnvidia-gl", "hold"), ("bash", "install"),
            ("linux-image-6.1", "install"),
        )
    )  # fmt: skip
    write(root, "/var/lib/dpkg/status", packages)
    periodic = 'APT::Periodic::Unattended-Upgrade "1";\n'
    write(root, "/etc/apt/apt.conf.d/20auto", periodic)
    assert said(tree, "driver-updates") == []  # not installed
    write(root, "/usr/bin/unattended-upgrade", "", 0o755)
    assert said(tree, "driver-updates") == [
        ("updates_driver_apt", "apt:driver"), ("updates_kernel", "apt:kernel"),
    ]  # fmt: skip
    write(
        root, "/etc/apt/apt.conf.d/50lab",
        'Unattended-Upgrade::Package-Blacklist { "nvidia-"; "linux-"; };\n'
        'Unattended-Upgrade::Automatic-Reboot "true";\n',
    )  # fmt: skip
    assert said(tree, "driver-updates") == [("updates_reboot", "apt:reboot")]
    write(root, "/etc/apt/apt.conf.d/20auto", 'APT::Periodic::Unattended-Upgrade "0";\n')
    assert said(tree, "driver-updates") == []


def test_dnf_automatic(tree: Tree) -> None:
    root = Path(tree.root)
    write(root, "/etc/dnf/automatic.conf", "[commands]\napply_updates = yes\n")
    write(root, "/proc/driver/nvidia/version", "NVRM version: 550\n")
    assert said(tree, "driver-updates") == []  # its timer is not switched on
    write(root, "/etc/systemd/system/timers.target.wants/dnf-automatic.timer")
    assert [code for code, _ in said(tree, "driver-updates")] == [
        "updates_driver_dnf", "updates_kernel",
    ]  # fmt: skip
    write(root, "/etc/dnf/dnf.conf", "[main]\nexcludepkgs=*nvidia*, kernel*\n")
    assert said(tree, "driver-updates") == []


def test_the_kernel_the_exports_and_the_temporary_folders(tree: Tree) -> None:
    root = Path(tree.root)
    write(root, "/proc/sys/fs/suid_dumpable", "1\n")
    write(root, "/proc/sys/kernel/core_pattern", "/var/cores/core.%p\n")
    (root / "var/cores").mkdir(parents=True)
    (root / "var/cores").chmod(0o777)
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o777)
    write(
        root, "/etc/exports",
        "# all\n/home *(rw,no_root_squash) 10.0.0.1(rw)\n/data -ro,no_root_squash n1 n2(rw)\n",
    )  # fmt: skip
    write(root, "/proc/self/mounts", "proc /proc proc rw,hidepid=invisible 0 0\n")
    checks = ("core-dumps", "tmp", "nfs-exports", "processes-visible")
    assert said(tree, *checks) == [
        ("tmp_loose", "/tmp"), ("nfs_root", "/home *"), ("dump_suid", "fs.suid_dumpable"),
        ("nfs_root", "/data n1"), ("nfs_root", "/data n2"), ("dump_folder", "/var/cores"),
    ]  # fmt: skip


@root_only
def test_homes_and_keys_with_their_owners_rights(tree: Tree) -> None:
    root = Path(tree.root)
    for parent in (root, *root.parents):
        if parent.stat().st_mode & 0o005 != 0o005 and str(parent) != "/":
            parent.chmod(parent.stat().st_mode | 0o055)
    for name, uid, gid, mode in (("ann", 4001, 4001, 0o755), ("bob", 4002, 100, 0o750)):
        ssh = root / "home" / name / ".ssh"
        ssh.mkdir(parents=True)
        write(root, f"/home/{name}/.ssh/id_x", "-----BEGIN OPENSSH PRIVATE KEY-----\n", 0o644)
        write(root, f"/home/{name}/.ssh/notes", "no key\n", 0o644)
        write(root, f"/home/{name}/.ssh/authorized_keys", "", 0o664)
        (ssh / "link").symlink_to("/etc/shadow")
        for path in (ssh.parent, ssh, *ssh.iterdir()):
            os.chown(path, uid, gid, follow_symlinks=False)
        ssh.chmod(0o700)
        ssh.parent.chmod(mode)
    found = said(tree, "homes", "ssh-keys")
    # The group users has others in it, ann's own has not; no key is reachable behind 0700.
    assert found == [
        ("home_readable", "ann"), ("home_readable", "bob"),
        ("key_private_within", "/home/ann/.ssh/id_x"),
        ("key_authorized_within", "/home/bob/.ssh/authorized_keys"),
        ("key_private_within", "/home/bob/.ssh/id_x"),
    ]  # fmt: skip
    (root / "home/ann/.ssh").chmod(0o755)
    assert ("key_private", "/home/ann/.ssh/id_x") in said(tree, "ssh-keys")
    assert os.geteuid() == 0


def test_shared_places_are_searched_within_bounds(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(tree.root)
    for path, mode in (("data/open", 0o777), ("data/sticky", 0o1777), ("data/a/b", 0o755)):
        (root / path).mkdir(parents=True)
        (root / path).chmod(mode)
    write(root, "/data/a/b/f", "x", 0o666)
    write(root, "/data/a/g", "x", 0o664)
    (root / "data/link").symlink_to(root / "etc")
    (root / "data/a/loop").symlink_to("..")
    found = said(tree, "shared-folders", places=("/data", "/none", "/etc", "/data/../etc", "/"))
    assert found == [("shared_folder", "/data/open"), ("shared_file", "/data/a/b/f")]
    monkeypatch.setattr(folders, "MOST_ENTRIES", 2)
    facts = look(Question(checks=("shared-folders",), root=tree.root, places=("/data",)))
    assert [(one.check, one.why, one.detail) for one in facts.unseen] == [
        ("shared-folders", "cut_off", "/data")
    ]


@pytest.mark.parametrize(
    ("place", "may"),
    [
        ("/data", True), ("/mnt/x", True), ("/var/data", True), ("/", False), ("/etc", False),
        ("/etc/x", False), ("/proc/1", False), ("/dev/shm", False), ("data", False),
        ("/data/", False), ("/data/../etc", False), ("/usr/share", False), ("/var", False),
    ],
)  # fmt: skip
def test_places_that_are_never_searched(place: str, may: bool) -> None:
    assert folders.may_search(place) is may


def test_secrets_of_processes_and_crontabs(tree: Tree) -> None:
    root, secret = Path(tree.root), "hf_" + "Ab3" * 12
    write(root, "/proc/41/cmdline", f"python\0train.py\0--hf-token={secret}\0")
    write(root, "/proc/42/cmdline", "python\0train.py\0")
    write(root, "/etc/cron.d/lab", f"# x\n0 3 * * * root sync --token {secret}\n")
    write(root, "/var/spool/cron/crontabs/ann", "@daily mysql --password=hunter2xyz\n", 0o600)
    facts = look(Question(checks=("command-secrets",), root=tree.root))
    assert facts.command_secrets is not None
    assert [(one.where, one.which, one.shown) for one in facts.command_secrets] == [
        ("process", "41", "python … --hf-token=****"),
        ("cron", "/etc/cron.d/lab:2", "sync … --token ****"),
        ("cron", "/var/spool/cron/crontabs/ann:1", "mysql … --password=****"),
    ]
    assert secret not in repr(facts)


def test_a_collector_that_fails_is_told_and_costs_no_other(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Tree, __: Question) -> dict[str, object]:
        raise ValueError("no such thing")

    monkeypatch.setitem(COLLECT, "sshd", broken)  # type: ignore[arg-type]
    facts = look(Question(checks=("sshd", "tmp"), root=tree.root))
    assert isinstance(facts, Facts)
    assert [(one.check, one.why, one.detail) for one in facts.unseen] == [
        ("sshd", "failed", "ValueError: no such thing")
    ]
    assert facts.tmp == ()
