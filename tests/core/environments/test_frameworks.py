"""Frameworks and their CUDA are read from what packages say, in each way that they say it."""

from __future__ import annotations

import pytest

from roost.core.environments.frameworks import frameworks_of
from roost.core.environments.model import Dist, Framework


def only(*dists: Dist) -> Framework:
    found = frameworks_of(dists)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("dists", "cuda", "gpu"),
    [
        ([Dist("torch", "2.13.0+cu130")], (13, 0), True),
        ([Dist("torch", "1.8.1+cu111")], (11, 1), True),
        ([Dist("torch", "1.4.0+cu92")], (9, 2), True),
        ([Dist("torch", "2.13.0+cpu")], None, False),
        ([Dist("torch", "2.13.0+rocm6.2")], None, False),
        ([Dist("torch", "2.6.0a0+git.cu126")], (12, 6), True),
        ([Dist("torch", "2.8.0"), Dist("nvidia-cuda-runtime-cu12", "12.8.90")], (12, 8), True),
        ([Dist("torch", "2.13.0"), Dist("nvidia-cuda-runtime", "13.0.96")], (13, 0), True),
        ([Dist("torch", "2.1.0", files={"v": "cuda: Optional[str] = '12.1'\n"})], (12, 1), True),
        ([Dist("torch", "2.1.0", files={"v": "cuda = '11.8'\nhip = None\n"})], (11, 8), True),
        ([Dist("torch", "2.1.0", files={"v": "cuda: Optional[str] = None\n"})], None, False),
        ([Dist("torch", "2.1.0")], None, False),
        ([Dist("pytorch", "2.1.0", build="py3.11_cuda12.1_cudnn8.9.2_0")], (12, 1), True),
        ([Dist("pytorch", "2.5.1", build="cuda126_mkl_py311h0_302")], (12, 6), True),
        ([Dist("pytorch", "2.5.1", build="cpu_mkl_py311h0_102")], None, False),
        (
            [Dist("tensorflow", "2.17.0", files={"b": "build_info = {'cuda_version': '12.3'}"})],
            (12, 3), True,
        ),
        (
            [Dist("tensorflow", "2.17.0", files={"b": '("cuda_version", "12.5.1")'})],
            (12, 5), True,
        ),
        ([Dist("tensorflow-gpu", "2.4.0")], None, True),
        ([Dist("tensorflow-cpu", "2.17.0")], None, False),
        ([Dist("jax", "0.8.0"), Dist("jaxlib", "0.8.0")], None, False),
        ([Dist("jax", "0.8.0"), Dist("jaxlib", "0.8.0"), Dist("jax-cuda13-plugin", "0.8.0")],
         (13, -1), True),
        ([Dist("jax", "0.6.0"), Dist("jax-cuda12-plugin", "0.6.0"),
          Dist("nvidia-cuda-runtime-cu12", "12.9.79")], (12, 9), True),
        ([Dist("jax", "0.4.7"), Dist("jaxlib", "0.4.7+cuda11.cudnn86")], (11, -1), True),
        ([Dist("jaxlib", "0.4.7+cuda12.cudnn88")], (12, -1), True),
        ([Dist("paddlepaddle-gpu", "2.6.1.post120")], (12, 0), True),
        ([Dist("paddlepaddle-gpu", "3.1.0", files={"v": "cuda_version     = '12.6'\n"})],
         (12, 6), True),
        ([Dist("paddlepaddle", "3.1.0")], None, False),
        ([Dist("mindspore-gpu", "1.9.0")], None, True),
        ([Dist("mindspore", "2.5.0")], None, False),
    ],
)  # fmt: skip
def test_the_cuda_of_a_framework(dists: list[Dist], cuda: tuple[int, int] | None, gpu: bool):
    found = only(*dists)
    assert (found.cuda, found.gpu) == (cuda, gpu)


def test_what_is_no_framework_is_none_and_several_are_all_told():
    assert frameworks_of([Dist("torchvision", "0.29.1+cu130"), Dist("numpy", "2.0")]) == ()
    found = frameworks_of([Dist("Torch", "2.0+cu118"), Dist("tensorflow_cpu", "2.17")])
    assert [one.name for one in found] == ["tensorflow", "torch"]


@pytest.mark.parametrize("text", ["", "+" * 5000, "\0", "2.0+cu" + "9" * 4000, "+cu", "é" * 900])
def test_a_version_of_anything_is_read_without_a_crash(text: str):
    dist = Dist("torch", text, (text,), files={"torch/version.py": text * 10})
    assert only(dist).name == "torch"
