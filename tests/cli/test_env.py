"""`roost run --env` and the doctor hold a framework against the driver that the daemon tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Roost
from tests.cli.stub import STATUS, Stub
from tests.cli.test_main import ENVS, environments


def with_torch(version: str) -> dict[str, Any]:
    answer = environments()
    info = ENVS / "ml/lib/python3.11/site-packages/torch-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Name: torch\nVersion: {version}\n")
    return answer


@pytest.mark.parametrize(
    ("version", "driver", "code", "said"),
    [
        ("2.13.0+cu130", "535.104.05", 1,
         "torch 2.13.0 + CUDA 13.0 needs driver ≥ 580; this server has 535.104.05"),
        ("2.9.0+cu128", "535.104.05", 0, "torch 2.9.0 + CUDA 12.8 came with driver 570"),
        ("2.13.0+cu130", "580.65.06", 0, ""),
        ("2.13.0+cpu", "400.1", 0, ""),
        ("2.13.0+cu130", "simulated", 0, ""),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_before_the_queue(
    stub: Stub, roost: Roost, tmp_path: Path, version: str, driver: str, code: int, said: str
):
    stub.answers["GET /v1/environments"] = (200, lambda: with_torch(version))
    stub.answers["GET /v1/status"] = (200, {**STATUS, "driver_version": driver})
    done = roost("run", "--env", "ml", "--", "true")
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    sent = [body for method, path, body, _ in stub.seen if (method, path) == ("POST", "/v1/jobs")]
    assert [body["env"] for body in sent] == ([] if code else ["ml"])
    forced = roost("run", "--no-env-check", "--env", "ml", "--", "true")
    assert forced.returncode == 0
    told = roost("env", "doctor", "ml")
    assert said.partition(";")[0] in told.stdout


@pytest.mark.parametrize("env", ["../ml", "/etc", "a b", "nobody/x", "none"])
def test_an_environment_that_is_not_there_is_refused(stub: Stub, roost: Roost, env: str):
    stub.answers["GET /v1/environments"] = (200, environments)
    done = roost("run", "--env", env, "--", "true")
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
