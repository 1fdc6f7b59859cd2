"""What a driver and a GPU mean for a CUDA build."""

from __future__ import annotations

import pytest

from roost.core.environments.drivers import (
    MINOR_COMPATIBLE,
    SHIPPED,
    against_driver,
    against_gpu,
    least_driver,
    on_server,
    version_of,
)
from roost.core.environments.model import Framework


def torch(cuda: tuple[int, int] | None) -> Framework:
    return Framework("torch", "2.13.0+cu130", cuda)


@pytest.mark.parametrize(
    ("cuda", "driver", "said"),
    [
        ((13, 0), "535.104.05", "error"),
        ((13, 0), "579.99", "error"),
        ((13, 0), "580.65.06", None),
        ((13, 1), "580.65.06", "warning"),
        ((13, -1), "580.10", None),
        ((14, 0), "575.51.03", "error"),
        ((12, 8), "525.60.13", "warning"),
        ((12, 8), "525.60.12", "error"),
        ((12, 0), "525.60.13", None),
        ((11, 1), "450.80.02", "warning"),
        ((11, 1), "418.39", "error"),
        ((10, 2), "440.33", None),
        ((10, 2), "440.32", "error"),
        ((12, 4), "not a version", None),
        (None, "300.00", None),
    ],
)
def test_the_driver_that_a_build_needs(cuda: tuple[int, int] | None, driver: str, said: str | None):
    found = against_driver(torch(cuda), driver)
    assert (found.level if found else None) == said
    if said == "error" and cuda:
        softer = against_driver(torch(cuda), driver, compat=True)
        assert softer is not None
        assert softer.level == "warning"


def test_the_sentence_has_the_numbers_of_the_issue():
    found = against_driver(torch((13, 0)), "535.104.05")
    assert found is not None
    assert dict(found.numbers) == {
        "framework": "torch", "version": "2.13.0", "cuda": "13.0", "driver": "535.104.05",
        "needs": "580",
    }  # fmt: skip


def test_no_build_needs_more_to_begin_with_than_its_toolkit_shipped():
    for cuda, full in SHIPPED.items():
        least = least_driver(cuda)
        assert least is not None
        # 11.0 came with a driver older than that from which all minors of 11 are compatible
        assert least <= full or cuda == (11, 0)
    assert sorted(MINOR_COMPATIBLE.values()) == [
        MINOR_COMPATIBLE[major] for major in sorted(MINOR_COMPATIBLE)
    ]


@pytest.mark.parametrize(
    ("cuda", "model", "says"),
    [
        ((11, 1), "NVIDIA H200", True),
        ((11, 8), "NVIDIA H100 80GB HBM3", False),
        ((10, 2), "NVIDIA A100-SXM4-80GB", True),
        ((11, 0), "NVIDIA A100-SXM4-80GB", False),
        ((12, 4), "NVIDIA GeForce RTX 5090", True),
        ((12, -1), "NVIDIA GeForce RTX 5090", False),
        ((11, 0), "NVIDIA GeForce RTX 3090", True),
        ((9, 0), "Some other card", False),
    ],
)
def test_a_build_that_cannot_know_the_gpu(cuda: tuple[int, int], model: str, says: bool):
    assert (against_gpu(torch(cuda), model) is not None) == says


def test_errors_come_first_and_a_model_counts_once():
    found = on_server((torch((11, 1)), torch((13, 0))), "470.42.01", ("NVIDIA H200",) * 8, False)
    assert [one.code for one in found] == ["driver_too_old", "gpu_too_new"]
    assert on_server((torch((13, 0)),), None, (), False) == ()
    assert version_of("535.54.03") == (535, 54, 3)
