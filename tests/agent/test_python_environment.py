"""A job's environment of Python: checked by the agent, entered as its user, without any shell."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from roost.agent.environment import expanded, kind_at, within
from roost.agent.validate import RefusedError, check
from roost.wire.messages import LaunchSpec


def spec(**more: Any) -> LaunchSpec:
    return LaunchSpec(1, 1, "ann", "cv", "regular", argv=(b"true",), directory=b"/", **more)


@pytest.mark.parametrize(
    ("env", "path"),
    [
        ("ml", b""),
        ("", b"/x"),
        ("../ml", b"/x"),
        ("a/b/c", b"/x"),
        ("ml", b"relative"),
        ("ml", b"~bob/x"),
        ("ml", b"~/../etc"),
        ("ml", b"/x/./y"),
        ("ml", b"/x//y"),
        ("ml", b"/x\0"),
        ("ml", b"/" + b"x" * 5000),
        ("ml\n", b"/x"),
    ],
)
def test_an_environment_that_could_be_elsewhere_is_refused(env: str, path: bytes):
    with pytest.raises(RefusedError):
        check(spec(env=env, env_path=path))


def test_ones_own_and_a_shared_one_are_launched():
    check(spec(env="ml", env_path=b"~/.local/share/roost/envs/ml"))
    check(spec(env="ann/ml", env_path=b"/var/lib/roost/environments/versions/ab"))
    check(spec())
    assert expanded(b"~/x", b"/home/ann") == b"/home/ann/x"
    assert expanded(b"/x", b"/home/ann") == b"/x"


def test_the_variables_of_a_venv_and_none_of_what_was_active_before():
    made = within(
        {
            b"PATH": b"/old/bin:/conda/bin:/usr/bin", b"VIRTUAL_ENV": b"/old",
            b"CONDA_PREFIX": b"/conda", b"CONDA_DEFAULT_ENV": b"base", b"PYTHONHOME": b"/x",
            b"OTHER": b"kept",
        },
        b"/e/ml", "venv", "ml",
    )  # fmt: skip
    assert made == {
        b"PATH": b"/e/ml/bin:/usr/bin", b"VIRTUAL_ENV": b"/e/ml", b"ROOST_ENV": b"ml",
        b"OTHER": b"kept",
    }  # fmt: skip


def test_the_variables_of_a_conda_environment():
    made = within({b"PATH": b"/usr/bin"}, b"/e/c", "conda", "c")
    assert (made[b"CONDA_PREFIX"], made[b"PYTHONNOUSERSITE"]) == (b"/e/c", b"1")
    assert b"VIRTUAL_ENV" not in made


def test_which_kind_it_is_and_that_it_was_used(tmp_path: Path):
    path = os.fsencode(tmp_path)
    with pytest.raises(FileNotFoundError):
        kind_at(path)
    (tmp_path / "conda-meta").mkdir()
    (tmp_path / "bin").mkdir()
    assert kind_at(path) == "conda"
    (tmp_path / "pyvenv.cfg").touch()
    with pytest.raises(FileNotFoundError):
        kind_at(path)
    (tmp_path / "bin/python").touch()
    assert kind_at(path) == "venv"
    assert (tmp_path / ".roost-used").exists()


def test_noting_the_use_follows_no_link_and_waits_for_no_reader(tmp_path: Path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").touch()
    (tmp_path / "pyvenv.cfg").touch()
    victim = tmp_path / "victim"
    (tmp_path / ".roost-used").symlink_to(victim)
    assert kind_at(os.fsencode(tmp_path)) == "venv"
    assert not victim.exists()
    (tmp_path / ".roost-used").unlink()
    os.mkfifo(tmp_path / ".roost-used")
    assert kind_at(os.fsencode(tmp_path)) == "venv"
