"""Commands called as the shell calls them, against a stub with the answers of docs/api.md."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.stub import STATUS, WHO, Stub, job

PING = {
    "roost": "0.1.0",
    "server": "gpu1",
    "user": "alice",
    "uid": 1000,
    "operator": False,
    "simulated": True,
    "time_zone": "Europe/Berlin",
}


@pytest.fixture
def stub(tmp_path: Path) -> Iterator[Stub]:
    answers: dict[str, Any] = {
        "GET /v1/ping": (200, PING),
        "GET /v1/status": (200, STATUS),
        "GET /v1/who": (200, WHO),
        "GET /v1/jobs": (200, {"jobs": [job(42, "RUNNING")]}),
        "GET /v1/jobs/42": (200, job(42, "RUNNING")),
        "POST /v1/jobs": (201, {"job": 45, "state": "PENDING", "notes": []}),
    }
    server = Stub(str(tmp_path / "r.sock"), answers)
    yield server
    server.close()


Roost = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def roost(tmp_path: Path) -> Roost:
    """Runs `python -m roost WORDS` against the stub's socket, in a folder of its own."""
    work = tmp_path / "work"
    work.mkdir()

    def call(
        *words: str | bytes,
        environment: dict[str, str] | None = None,
        cwd: Path | None = None,
        text: str | None = None,
        bare: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(tmp_path),
            "LANG": "C.UTF-8",
            "COLUMNS": "80",
            "ROOST_SOCKET": str(tmp_path / "r.sock"),
            "PYTHONDONTWRITEBYTECODE": "1",  # the umask below is no umask for it
            "PYTHONPATH": os.pathsep.join(sys.path),
            **(environment or {}),
        }
        if bare:
            del env["LANG"]
        done = subprocess.run(
            [sys.executable, "-m", "roost", *words], env=env, cwd=cwd or work, capture_output=True,
            input=text.encode() if text is not None else None, timeout=60, check=False,
            umask=0o027,
        )  # fmt: skip
        return subprocess.CompletedProcess(
            words, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    return call
