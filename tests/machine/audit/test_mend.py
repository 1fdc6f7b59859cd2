"""Fixes on a prepared tree: made once, kept, taken back; and what is left alone."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.core.audit.host import ENVVAR
from roost.machine.audit import kept
from roost.machine.audit.look import Question
from roost.machine.audit.mend import APT, SYSCTL, Mend, Outcome, Undo, mend, undo
from roost.machine.audit.system import SSHD, TOOLKIT

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: fixes are root's")
PASSWD = "root:x:0:0::/root:/bin/bash\nann:x:4001:4001::/home/ann:/bin/bash\n"
CONFIG = f"""# the toolkit's own
disable-require = false
#{ENVVAR} = true
[nvidia-container-cli]
load-kmods = true
"""


class Rig:
    def __init__(self, root: Path) -> None:
        self.root = root / "machine"
        self.store = str(root / "fixes")
        self.write("/etc/passwd", PASSWD)
        self.write("/etc/group", "root:x:0:\nann:x:4001:\n")

    def write(self, path: str, text: str, mode: int = 0o644) -> Path:
        file = self.at(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)
        return file

    def at(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def fix(self, check: str, subject: str, **more: object) -> list[str]:
        question = Question(root=str(self.root), **more)  # type: ignore[arg-type]
        return said(mend(Mend(question, ((check, subject),), "observe", self.store, "olga")))

    def undo(self, *checks: str) -> list[str]:
        return said(undo(Undo(self.store, checks, str(self.root))))


def said(outcomes: list[Outcome]) -> list[str]:
    return [one.outcome for one in outcomes]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_mode & 0o005 != 0o005 and str(parent) != "/":
            parent.chmod(parent.stat().st_mode | 0o055)
    return Rig(tmp_path)


def test_a_home_is_closed_once_and_opened_again(rig: Rig) -> None:
    home = rig.at("/home/ann")
    home.mkdir(parents=True)
    os.chown(home, 4001, 4001)
    home.chmod(0o755)
    assert rig.fix("homes", "ann") == ["done"]
    assert mode(home) == 0o750
    assert rig.fix("homes", "ann") == ["nothing"]
    (record,) = kept.load(rig.store)
    assert (record.check, record.subject, record.by) == ("homes", "ann", "olga")
    assert rig.undo() == ["undone"]
    assert mode(home) == 0o755
    assert kept.load(rig.store) == []
    assert os.stat(rig.store).st_mode & 0o077 == 0


def test_what_was_changed_since_is_left_alone(rig: Rig) -> None:
    home = rig.at("/home/ann")
    home.mkdir(parents=True)
    os.chown(home, 4001, 4001)
    home.chmod(0o777)
    assert rig.fix("homes", "ann") == ["done"]
    home.chmod(0o700)
    assert rig.undo() == ["changed"]
    assert mode(home) == 0o700
    home.rmdir()
    assert rig.undo() == ["failed"]
    home.symlink_to(rig.at("/etc"))
    assert rig.undo() == ["changed"]
    assert mode(rig.at("/etc")) == 0o755


def test_what_is_not_found_is_not_mended_whatever_is_asked(rig: Rig) -> None:
    target = rig.write("/etc/secret", "x", 0o666)
    for check, subject in (
        ("homes", "root"), ("homes", "../etc"), ("shared-folders", "/etc/secret"),
        ("tmp", "/etc/secret"), ("nothing", "x"), ("", ""), ("ssh-keys", "/etc/secret"),
    ):  # fmt: skip
        assert rig.fix(check, subject, places=("/etc",)) == ["nothing"]
    assert mode(target) == 0o666
    assert kept.load(rig.store) == []


def test_the_toolkit_keeps_everything_but_the_one_key(rig: Rig) -> None:
    file = rig.write(TOOLKIT, CONFIG, 0o640)
    assert rig.fix("container-toolkit", TOOLKIT) == ["done"]
    text = file.read_text()
    assert tomllib.loads(text)[ENVVAR] is False
    assert text == CONFIG.replace(f"#{ENVVAR} = true", f"{ENVVAR} = false")
    assert mode(file) == 0o640
    assert rig.fix("container-toolkit", TOOLKIT) == ["nothing"]
    assert rig.undo("container-toolkit") == ["undone"]
    assert file.read_text() == CONFIG
    bare = "[a]\nb = 1\n"
    file.write_text(bare)
    assert rig.fix("container-toolkit", TOOLKIT) == ["done"]
    assert tomllib.loads(file.read_text()) == {ENVVAR: False, "a": {"b": 1}}
    file.write_text(file.read_text() + "# mine\n")
    assert rig.undo() == ["changed"]
    assert file.read_text().endswith("# mine\n")


def test_sysctls_share_a_file_that_goes_with_the_last(rig: Rig) -> None:
    dumps = rig.write("/proc/sys/fs/suid_dumpable", "1\n")
    log = rig.write("/proc/sys/kernel/dmesg_restrict", "0\n")
    assert rig.fix("core-dumps", "fs.suid_dumpable") == ["done"]
    assert rig.fix("kernel-leaks", "kernel.dmesg_restrict") == ["done"]
    assert (dumps.read_text(), log.read_text()) == ("2\n", "1\n")
    lines = rig.at(SYSCTL).read_text().splitlines()[1:]
    assert lines == ["fs.suid_dumpable = 2", "kernel.dmesg_restrict = 1"]
    assert rig.undo("core-dumps") == ["undone"]
    assert rig.at(SYSCTL).read_text().splitlines()[1:] == ["kernel.dmesg_restrict = 1"]
    assert rig.undo() == ["undone"]
    assert (dumps.read_text(), log.read_text()) == ("1\n", "0\n")
    assert not rig.at(SYSCTL).exists()


@pytest.mark.skipif(not Path("/usr/bin/apt-config").exists(), reason="needs apt")
def test_the_driver_is_kept_out_of_unattended_upgrades(rig: Rig) -> None:
    rig.write("/usr/bin/unattended-upgrade", "", 0o755)
    rig.write("/etc/apt/apt.conf.d/20auto", 'APT::Periodic::Unattended-Upgrade "1";\n')
    status = "Package: {}\nStatus: install ok installed\n\n"
    rig.write("/var/lib/dpkg/status", status.format("libnvidia-x.1+2") + status.format("bash"))
    assert rig.fix("driver-updates", "apt:driver") == ["done"]
    assert '"libnvidia-x[.]1[+]2$";' in rig.at(APT).read_text()
    assert rig.fix("driver-updates", "apt:driver") == ["nothing"]
    assert rig.undo() == ["undone"]
    assert not rig.at(APT).exists()


def test_without_an_sshd_to_test_it_its_file_stays_as_it_is(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    rig.write(SSHD, "PermitEmptyPasswords yes\nPasswordAuthentication no\n")
    assert rig.fix("sshd", "PermitEmptyPasswords") == ["failed"]
    assert not rig.at("/etc/ssh/sshd_config.d").exists()
    assert kept.load(rig.store) == []


@pytest.fixture
def sshd_may_test() -> Iterator[None]:
    """It tests nothing without its folder, which is there while it runs."""
    folder = Path("/run/sshd")
    made = not folder.exists()
    if made:
        folder.mkdir(0o755)
    yield
    if made:
        folder.rmdir()


@pytest.mark.skipif(
    not Path("/usr/sbin/sshd").exists(),
    reason="needs sshd installed (apt-get install openssh-server)",
)
def test_sshd_tests_what_is_written_and_what_is_not_included_goes_again(
    rig: Rig, sshd_may_test: None
) -> None:
    include = f"Include {rig.root}/etc/ssh/sshd_config.d/*.conf\n"
    weak = "PermitEmptyPasswords yes\nHostKey /etc/ssh/ssh_host_ed25519_key\n"
    rig.write(SSHD, weak)
    assert rig.fix("sshd", "PermitEmptyPasswords") == ["failed"]
    assert list(rig.at("/etc/ssh/sshd_config.d").glob("*")) == []
    rig.write(SSHD, include + weak)
    assert rig.fix("sshd", "PermitEmptyPasswords") == ["done"]
    assert rig.undo() == ["undone"]
    assert list(rig.at("/etc/ssh/sshd_config.d").glob("*")) == []


def test_a_shared_folder_keeps_who_may_write_and_gets_the_sticky_bit(rig: Rig) -> None:
    folder = rig.at("/data/team")
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert rig.fix("shared-folders", "/data/team", places=("/data",)) == ["done"]
    assert mode(folder) == 0o1777
    assert rig.undo("shared-folders") == ["undone"]
    assert mode(folder) == 0o777
