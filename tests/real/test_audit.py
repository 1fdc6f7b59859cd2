"""`roost audit` as root on this machine, with real accounts, files, groups and processes: what is
found, what is mended, and what a hostile member cannot make it do."""

from __future__ import annotations

import grp
import json
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from roost.core.audit.judge import findings
from roost.machine.audit import kept
from roost.machine.audit.look import Question, look
from roost.machine.audit.mend import Mend, Undo, mend, undo
from roost.machine.audit.modes import ChangedError, change_mode
from roost.machine.audit.tree import Tree
from tests.real import rig

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: accounts, groups, modes")
PLACE = Path("/srv/rau-data")
SECRET = "hf_" + "Q7" * 17
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----\n"
RULES = f"""
operators = ["rau-olga"]
[audit]
places = ["{PLACE}"]
accept = [{{ check = "homes", subject = "rau-bob", reason = "his demo" }}]
"""


@dataclass
class Site:
    daemon: rig.Daemon
    ann: rig.Account
    bob: rig.Account
    secret: subprocess.Popen[bytes]

    def found(self, user: str = "rau-olga", *words: str) -> dict[tuple[str, str], dict[str, Any]]:
        done = self.daemon.cli(user, "audit", *words, "--json", check=False)
        assert done.returncode in (0, 1), done.stderr
        rows = json.loads(done.stdout)["findings"]
        return {(row["check"], row["subject"]): row for row in rows}


@pytest.fixture(scope="module")
def docker() -> Iterator[None]:
    """The group docker, as it was before when all is over."""
    there = "docker" in {group.gr_name for group in grp.getgrall()}
    if not there:
        subprocess.run(["groupadd", "docker"], check=True)
    yield
    if not there:
        subprocess.run(["groupdel", "docker"], check=False)


@pytest.fixture(scope="module")
def site(docker: None) -> Iterator[Site]:
    with (
        rig.accounts("ann", "bob", "olga", prefix="rau-") as (ann, bob, _),
        rig.daemon("--simulate", "1xA100", rules=RULES) as running,
    ):
        shutil.rmtree(PLACE, ignore_errors=True)
        PLACE.mkdir(mode=0o755)
        (PLACE / "team").mkdir()
        (PLACE / "team").chmod(0o777)
        (PLACE / "model.bin").write_bytes(b"x")
        (PLACE / "model.bin").chmod(0o666)
        (PLACE / "elsewhere").symlink_to("/etc")
        ann.home.chmod(0o755)
        bob.home.chmod(0o755)
        ssh = ann.home / ".ssh"
        ssh.mkdir(exist_ok=True)
        (ssh / "id_rsa").write_text(KEY)
        (ssh / "id_rsa").chmod(0o644)
        (ssh / "authorized_keys").write_text("")
        (ssh / "linked").symlink_to("/etc/shadow")
        subprocess.run(["chown", "-hR", f"{ann.uid}:{ann.gid}", str(ssh)], check=True)
        subprocess.run(["gpasswd", "-a", bob.name, "docker"], check=True, capture_output=True)
        secret = subprocess.Popen(
            ["sh", "-c", "sleep 600 # $0", f"--hf-token={SECRET}"],
            user=ann.uid, group=ann.gid, extra_groups=[], cwd="/", env={},
        )  # fmt: skip
        try:
            yield Site(running, ann, bob, secret)
        finally:
            secret.kill()
            secret.wait()
            shutil.rmtree(PLACE, ignore_errors=True)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_what_is_at_risk_is_found_with_risk_and_remedy(site: Site) -> None:
    done = site.daemon.cli("rau-olga", "audit", check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    for line in (
        "The home of rau-ann (/home/rau-ann) can be read by others: 0755.",
        "chmod 0750 /home/rau-ann",
        "rau-bob is in the group docker.",
        "gpasswd -d rau-bob docker",
        f"Everybody may delete and replace what others put into {PLACE}/team",
        "accepted (his demo): The home of rau-bob",
    ):
        assert line in done.stdout, done.stdout
    found = site.found()
    assert found["homes", "rau-ann"]["severity"] == "medium"
    assert found["root-groups", "docker:rau-bob"]["severity"] == "high"
    assert found["ssh-keys", "/home/rau-ann/.ssh/id_rsa"]["severity"] in ("high", "low")
    assert found["shared-folders", f"{PLACE}/model.bin"]["code"] == "shared_file"
    assert not any("/etc" in subject for check, subject in found if check == "shared-folders")
    assert not any("linked" in subject for _, subject in found)
    chinese = site.daemon.cli(
        "rau-olga", "audit", check=False, environment={"LC_ALL": "zh_CN.UTF-8"}
    )
    assert "rau-bob 在 docker 组中。" in chinese.stdout


def test_a_secret_is_told_to_its_owner_and_operators_and_never_shown(site: Site) -> None:
    mine = ("command-secrets", f"process:{site.secret.pid}")
    for user in ("rau-olga", "rau-ann"):
        row = site.found(user)[mine]
        assert row["user"] == "rau-ann"
        assert "****" in row["text"]
    assert mine not in site.found("rau-bob")
    everything = ""
    for user in ("rau-olga", "rau-ann", "rau-bob"):
        done = site.daemon.cli(user, "audit", check=False)
        everything += done.stdout + done.stderr + site.daemon.cli(user, "audit", "--json",
                                                                  check=False).stdout  # fmt: skip
    everything += site.daemon.log() + site.daemon.cli("root", "audit", "log", "--json").stdout
    assert SECRET not in everything
    job = site.daemon.run("rau-ann", "--hold", "--", "true", "--password=tr0ub4dor-3")
    row = site.found("rau-ann")["command-secrets", f"job:{job}"]
    assert "--password=****" in row["text"]
    assert ("command-secrets", f"job:{job}") not in site.found("rau-bob")
    site.daemon.cli("rau-ann", "cancel", str(job))


def test_a_member_is_told_of_what_is_theirs_and_mends_nothing(site: Site) -> None:
    done = site.daemon.json("rau-ann", "audit", "--check", "homes", "--check", "sudo", check=False)
    assert done["whose"] == "rau-ann"
    assert done["checks"] == ["homes"]
    assert [row["subject"] for row in done["findings"]] == ["rau-ann"]
    assert site.daemon.cli("rau-ann", "audit", "--undo", "--yes", check=False).returncode == 0
    before = mode(site.ann.home)
    refused = site.daemon.cli("rau-ann", "audit", "--fix", "homes", "--yes", check=False)
    assert refused.returncode == 0  # nothing is offered
    assert mode(site.ann.home) == before


def test_fixes_are_shown_first_made_once_and_undone(site: Site) -> None:
    asked = site.daemon.cli("rau-olga", "audit", "--fix", check=False)
    assert asked.returncode == 1
    assert "/home/rau-ann: mode 0755 → 0750" in asked.stdout
    assert "--yes" in asked.stderr
    assert mode(site.ann.home) == 0o755
    words = ("audit", "--fix", "homes", "ssh-keys", "shared-folders", "--yes")
    done = site.daemon.cli("rau-olga", *words)
    assert "homes: rau-ann: done" in done.stdout
    assert mode(site.ann.home) == 0o750
    assert mode(site.ann.home / ".ssh" / "id_rsa") == 0o600
    assert mode(PLACE / "team") == 0o1777
    assert mode(PLACE / "model.bin") == 0o664
    assert mode(site.bob.home) == 0o755  # accepted
    again = site.daemon.cli("rau-olga", *words)
    assert again.stdout == "nothing that --fix can mend\n"
    (PLACE / "team").chmod(0o1770)
    back = site.daemon.cli("rau-olga", "audit", "--undo", "--yes", check=False)
    assert back.returncode == 1
    assert f"{PLACE}/team: left: it is not what it was" in back.stdout
    assert mode(site.ann.home) == 0o755
    assert mode(site.ann.home / ".ssh" / "id_rsa") == 0o644
    assert mode(PLACE / "team") == 0o1770
    rows = site.daemon.json("root", "audit", "log")["audit"]
    assert {row["action"] for row in rows} >= {"audit fix", "audit undo"}


def test_a_home_swapped_for_a_link_leaves_what_it_points_to_alone(site: Site) -> None:
    target = Path("/srv/rau-target")
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(mode=0o755)
    os.chown(target, site.ann.uid, site.ann.gid)
    site.ann.home.chmod(0o755)
    aside = site.ann.home.with_name("rau-ann-aside")
    found = next(
        one for one in findings(look(Question(checks=("homes",)))) if one.subject == "rau-ann"
    )
    assert found.change is not None
    site.ann.home.rename(aside)
    try:
        site.ann.home.symlink_to(target)
        # At the very last moment, after it was looked at again …
        with pytest.raises((ChangedError, OSError)):
            change_mode(Tree(), found.change, 0o755, 0o750)  # type: ignore[arg-type]
        assert mode(target) == 0o755
        # … and between finding and mending.
        store = str(site.daemon.state / "swapped")
        order = Mend(Question(), (("homes", "rau-ann"),), "observe", store, "olga")
        assert [one.outcome for one in mend(order)] == ["not_fixable"]
        assert mode(target) == 0o755
        assert kept.load(store) == []
    finally:
        site.ann.home.unlink(missing_ok=True)
        aside.rename(site.ann.home)
        shutil.rmtree(target)


def test_root_follows_no_link_on_the_way_to_what_is_roots(site: Site, tmp_path: Path) -> None:
    """A folder of root's in a place where anybody may rename: swapped for a link to another one."""
    store = str(tmp_path / "fixes")
    inner = PLACE / "team" / "inner"
    (PLACE / "team").chmod(0o777)
    inner.mkdir()
    inner.chmod(0o777)
    question = Question(checks=("shared-folders",), places=(str(PLACE),))
    found = next(one for one in findings(look(question)) if one.subject == str(inner))
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "inner").mkdir(parents=True)
    (elsewhere / "inner").chmod(0o777)
    (PLACE / "team").rename(PLACE / "aside")
    (PLACE / "team").symlink_to(elsewhere)
    try:
        with pytest.raises(ChangedError, match="link"):
            change_mode(Tree(), found.change, 0o777, 0o1777)  # type: ignore[arg-type]
        assert mode(elsewhere / "inner") == 0o777
        order = Mend(question, (("shared-folders", str(inner)),), "observe", store, "x")
        assert [one.outcome for one in mend(order)] == ["nothing"]
    finally:
        (PLACE / "team").unlink()
        (PLACE / "aside").rename(PLACE / "team")


def test_a_check_that_hangs_is_told_as_such_and_costs_the_others_nothing(
    site: Site, tmp_path: Path
) -> None:
    (tmp_path / "etc").mkdir()
    os.mkfifo(tmp_path / "etc" / "exports")
    began = time.monotonic()
    facts = look(Question(checks=("nfs-exports", "tmp"), root=str(tmp_path), within_s=1.0))
    assert time.monotonic() - began < 3
    assert [(one.check, one.why) for one in facts.unseen] == [("nfs-exports", "slow")]
    assert facts.tmp == ()


def test_an_ordinary_users_daemon_says_what_it_cannot_see(site: Site) -> None:
    script = (
        "import json; from roost.machine.audit.look import *; f = look(Question());"
        "print(json.dumps([f.as_root, sorted((u.check, u.why) for u in f.unseen)]))"
    )
    done = subprocess.run(
        [rig.readable_python(), "-c", script], user=site.ann.uid, group=site.ann.gid,
        extra_groups=[], cwd="/", capture_output=True, text=True, check=True, env={},
    )  # fmt: skip
    as_root, unseen = json.loads(done.stdout)
    assert as_root is False
    assert ["homes", "needs_root"] in unseen
    assert ["sudo", "needs_root"] in unseen


def test_undo_of_nothing_is_nothing(tmp_path: Path) -> None:
    assert undo(Undo(str(tmp_path / "none"))) == []
