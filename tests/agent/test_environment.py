"""What a job's environment says of its share of a GPU's compute, whoever else says otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from roost.agent.environment import environment_of
from roost.agent.validate import RefusedError, check
from roost.machine.accounts import Account
from roost.wire.messages import GpuGrant, LaunchSpec

ANN = Account("ann", 1001, 1001, (1001,), "/home/ann", "/bin/bash")
SHARE = (GpuGrant("GPU-0", 10 << 30),)
MPS = b"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"


def spec(**more: Any) -> LaunchSpec:
    return LaunchSpec(1, 1, "ann", "cv", "regular", argv=(b"true",), directory=b"/", **more)


def test_the_share_is_in_the_variable_that_mps_clients_read() -> None:
    made = environment_of(spec(gpus=SHARE, gpu_compute_percent=30), ANN, None)
    assert (made[MPS], made[b"ROOST_GPU_COMPUTE_PERCENT"]) == (b"30", b"30")


def test_what_was_submitted_does_not_win() -> None:
    hostile = {MPS: b"100", b"ROOST_GPU_COMPUTE_PERCENT": b"100"}
    made = environment_of(spec(gpus=SHARE, gpu_compute_percent=30, environment=hostile), ANN, None)
    assert (made[MPS], made[b"ROOST_GPU_COMPUTE_PERCENT"]) == (b"30", b"30")


def test_a_job_that_a_job_with_a_share_submitted_is_not_held_to_that_share() -> None:
    made = environment_of(spec(gpus=(GpuGrant("GPU-0"),), environment={MPS: b"30"}), ANN, None)
    assert MPS not in made
    assert b"ROOST_GPU_COMPUTE_PERCENT" not in made


@pytest.mark.parametrize("percent", [1, 100])
def test_a_share_of_one_to_a_hundred_is_launched(percent: int) -> None:
    check(spec(gpus=SHARE, gpu_compute_percent=percent))


@pytest.mark.parametrize(
    ("gpus", "percent"),
    [
        (SHARE, 0),
        (SHARE, -1),
        (SHARE, 101),
        ((), 30),
        ((GpuGrant("GPU-0"),), 30),
        ((*SHARE, GpuGrant("GPU-1", 10 << 30)), 30),
    ],
)
def test_a_share_that_cannot_be_is_refused(gpus: tuple[GpuGrant, ...], percent: int) -> None:
    with pytest.raises(RefusedError) as refused:
        check(spec(gpus=gpus, gpu_compute_percent=percent))
    assert refused.value.code == "bad_spec"
