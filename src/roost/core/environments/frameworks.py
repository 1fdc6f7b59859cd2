"""Frameworks and their CUDA build from what packages say of themselves. Nothing is imported: an
environment is somebody's code, and importing torch takes seconds and a GPU.

Where each writes it: torch in its local version ("2.13.0+cu130") and torch/version.py; tensorflow
in tensorflow/python/platform/build_info.py; jax by its plugin packages; paddle in
paddle/version/__init__.py; mindspore by the package's name. Below them the CUDA runtime's own
package tells, and conda's build string.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from roost.core.environments.model import Dist, Framework

Cuda = tuple[int, int]

BUILD_FILES: Mapping[str, tuple[str, ...]] = {
    "torch": ("torch/version.py",),
    "tensorflow": ("tensorflow/python/platform/build_info.py",),
    "tensorflow-gpu": ("tensorflow/python/platform/build_info.py",),
    "paddlepaddle-gpu": ("paddle/version/__init__.py", "paddle/version.py"),
    "paddlepaddle": ("paddle/version/__init__.py", "paddle/version.py"),
}
"""Files of each package in which its build is written, relative to site-packages."""

_LOCAL = re.compile(r"\+(?:.*\.)?cu(?:da)?(\d{2,3})\b")
_LOCAL_DOTTED = re.compile(r"\+cuda(\d{2})(?:\.(\d))?")
_ASSIGNED = re.compile(
    r"""["']?cuda(?:_version)?["']?\s*(?::\s*[A-Za-z\[\].| ]+)?[=:,]\s*["']v?(\d{1,2})\.(\d{1,2})"""
)
_POST = re.compile(r"\.post(\d{2})(\d)\b")
_CONDA = re.compile(r"(?:^|_)(?:cuda|cu)_?(\d{1,2})(?:\.(\d)|(\d))?(?=\D|$)")
_RUNTIME = re.compile(r"nvidia-cuda-runtime(?:-cu(\d+))?\Z")
_JAX_PLUGIN = re.compile(r"jax-cuda(\d+)-(?:plugin|pjrt)\Z")
_NAMES = {
    "torch": "torch", "pytorch": "torch", "pytorch-gpu": "torch",
    "tensorflow": "tensorflow", "tensorflow-gpu": "tensorflow", "tensorflow-cpu": "tensorflow",
    "tensorflow-base": "tensorflow", "jax": "jax", "jaxlib": "jax",
    "paddlepaddle": "paddle", "paddlepaddle-gpu": "paddle",
    "mindspore": "mindspore", "mindspore-gpu": "mindspore", "mindspore-cuda11": "mindspore",
}  # fmt: skip
_CPU_ONLY = {"tensorflow-cpu"}
_GPU_NAMED = {"tensorflow-gpu", "paddlepaddle-gpu", "mindspore-gpu", "mindspore-cuda11"}


def canonical(name: str) -> str:
    """A package's name as registries compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def frameworks_of(dists: Iterable[Dist]) -> tuple[Framework, ...]:
    """The frameworks among the packages, by name."""
    by_name = {canonical(dist.name): dist for dist in dists}
    found: dict[str, Framework] = {}
    for name in sorted(by_name):
        framework = _NAMES.get(name)
        if framework is None or (name == "jaxlib" and "jax" in by_name):
            continue
        one = _framework(framework, name, by_name)
        before = found.get(framework)
        if before is None or (before.cuda is None and one.gpu):
            found[framework] = one
    return tuple(found[name] for name in sorted(found))


def _framework(framework: str, name: str, by_name: Mapping[str, Dist]) -> Framework:
    dist = by_name[name]
    cuda, said = _own(framework, name, dist, by_name)
    if cuda is None and said is None:
        cuda = runtime_of(by_name.values())
    gpu = bool(cuda) or (said is None and name in _GPU_NAMED)
    return Framework(framework, dist.version, cuda, gpu)


def _own(
    framework: str, name: str, dist: Dist, by_name: Mapping[str, Dist]
) -> tuple[Cuda | None, bool | None]:
    """What the framework itself says: its CUDA, and False where it says that it has none."""
    if name in _CPU_ONLY or re.search(r"\+(?:.*\.)?cpu\b", dist.version):
        return None, False
    if re.search(r"\+(?:.*\.)?(?:rocm|xpu)", dist.version):
        return None, False
    local = _of_version(dist.version)
    if local is not None:
        return local, True
    if framework == "jax":
        return _of_jax(by_name), None
    if dist.build:
        return _of_conda(dist.build)
    for text in dist.files.values():
        written = _ASSIGNED.search(text)
        if written:
            return (int(written[1]), int(written[2])), True
        if framework == "torch" and re.search(r"^cuda\b.*=\s*None\s*$", text, re.MULTILINE):
            return None, False
    if framework == "paddle":
        post = _POST.search(dist.version)
        if post:
            return (int(post[1]), int(post[2])), True
        return None, None if name in _GPU_NAMED else False
    if name == "mindspore-cuda11":
        return (11, -1), True
    return None, None


def _of_version(version: str) -> Cuda | None:
    dotted = _LOCAL_DOTTED.search(version)
    if dotted:
        return int(dotted[1]), int(dotted[2]) if dotted[2] else -1
    local = _LOCAL.search(version)
    return None if local is None else _digits(local[1])


def _digits(text: str) -> Cuda:
    """(13, 0) of "130", (9, 2) of "92", (12, -1) of "12"."""
    if len(text) == 3:
        return int(text[:2]), int(text[2])
    if text[0] == "1":
        return int(text), -1
    return int(text[0]), int(text[1])


def _of_conda(build: str) -> tuple[Cuda | None, bool | None]:
    if "cpu" in build:
        return None, False
    found = _CONDA.search(build)
    if found is None:
        return None, None
    if found[2]:
        return (int(found[1]), int(found[2])), True
    whole = found[1] + (found[3] or "")
    return _digits(whole), True


def _of_jax(by_name: Mapping[str, Dist]) -> Cuda | None:
    lib = by_name.get("jaxlib")
    if lib is not None:
        local = _of_version(lib.version)
        if local is not None:
            return local
        if lib.build:
            return _of_conda(lib.build)[0]
    for name in by_name:
        plugin = _JAX_PLUGIN.match(name)
        if plugin:
            runtime = runtime_of(by_name.values())
            major = int(plugin[1])
            return runtime if runtime and runtime[0] == major else (major, -1)
    return None


def runtime_of(dists: Iterable[Dist]) -> Cuda | None:
    """CUDA as the runtime's own package in the environment has it; None where there is none."""
    for dist in dists:
        name = canonical(dist.name)
        if _RUNTIME.match(name) or name in ("cudatoolkit", "cuda-version", "cuda-cudart"):
            found = re.match(r"(\d+)\.(\d+)", dist.version)
            if found:
                return int(found[1]), int(found[2])
    return None
