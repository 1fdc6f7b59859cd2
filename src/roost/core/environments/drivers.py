"""Which driver a CUDA build needs, and which CUDA a GPU needs.

Sources: NVIDIA, "CUDA Compatibility", minor version compatibility, table 1 (13.x: 580, 12.x: 525,
11.x: 450) and table 2 (10.x); "CUDA Toolkit Release Notes", table "CUDA Toolkit and
Corresponding Driver Versions", Linux column. Architectures: the release notes of 11.0 (sm_80), 11.1
(sm_86), 11.8 (sm_89, sm_90), 12.8 (sm_100, sm_120).
"""

from __future__ import annotations

import re

from roost.core.environments.model import Finding, Framework

Version = tuple[int, ...]

MINOR_COMPATIBLE: dict[int, Version] = {13: (580,), 12: (525, 60, 13), 11: (450, 80, 2)}
"""CUDA major -> the oldest driver that runs any of its minors, without some of their features."""

SHIPPED: dict[tuple[int, int], Version] = {
    (13, 1): (590, 44, 1), (13, 0): (580, 65, 6), (12, 9): (575, 51, 3), (12, 8): (570, 26),
    (12, 6): (560, 28, 3), (12, 5): (555, 42, 2), (12, 4): (550, 54, 14), (12, 3): (545, 23, 6),
    (12, 2): (535, 54, 3), (12, 1): (530, 30, 2), (12, 0): (525, 60, 13), (11, 8): (520, 61, 5),
    (11, 7): (515, 43, 4), (11, 6): (510, 39, 1), (11, 5): (495, 29, 5), (11, 4): (470, 42, 1),
    (11, 3): (465, 19, 1), (11, 2): (460, 27, 3), (11, 1): (455, 23), (11, 0): (450, 36, 6),
    (10, 2): (440, 33), (10, 1): (418, 39), (10, 0): (410, 48), (9, 2): (396, 26),
    (9, 1): (390, 46), (9, 0): (384, 81), (8, 0): (375, 26),
}  # fmt: skip
"""CUDA -> the driver that came with that toolkit, with which all of it works."""

LEAST_CUDA: tuple[tuple[str, tuple[int, int]], ...] = (
    (r"\b(B100|B200|GB200|B300|GB300|RTX PRO [456]\d{3}|RTX 50\d\d)\b", (12, 8)),
    (r"\b(H100|H200|H800|H20|GH200|L40S?|L4|RTX 40\d\d|RTX \d{4} Ada)\b", (11, 8)),
    (r"\b(A10G?|A40|A16|A2|RTX A\d{4}|RTX 30\d\d)\b", (11, 1)),
    (r"\b(A100|A800|A30)\b", (11, 0)),
    (r"\b(T4|RTX 20\d\d)\b", (10, 0)),
    (r"\bV100\b", (9, 0)),
)
"""Models -> the first CUDA whose compiler makes code for them."""


def version_of(text: str) -> Version | None:
    """(535, 54, 3) of "535.54.03"; None of what is no version."""
    found = re.fullmatch(r"(\d{1,4})((?:\.\d{1,4}){0,3})", text.strip())
    if found is None:
        return None
    return tuple(int(part) for part in text.strip().split("."))


def least_driver(cuda: tuple[int, int]) -> Version | None:
    """The oldest driver with which a build for that CUDA can work at all; None: not known."""
    major, minor = cuda
    if major in MINOR_COMPATIBLE:
        return MINOR_COMPATIBLE[major]
    if major > max(MINOR_COMPATIBLE):  # newer than this table: at least what the newest needs
        return MINOR_COMPATIBLE[max(MINOR_COMPATIBLE)]
    known = [key for key in SHIPPED if key[0] == major and minor in (-1, key[1])]
    return min((SHIPPED[key] for key in known), default=None)


def against_driver(framework: Framework, driver: str, compat: bool = False) -> Finding | None:
    """What the driver means for the framework; None: all of it works, or nothing can be said.

    `compat`: NVIDIA's forward-compatibility libraries are in the environment, with which an older
    driver of a data centre GPU may do; then it is never more than a warning.
    """
    has = version_of(driver)
    if framework.cuda is None or has is None:
        return None
    needs = least_driver(framework.cuda)
    numbers = {
        "framework": framework.name, "version": _public(framework.version),
        "cuda": framework.cuda_text or "", "driver": driver,
    }  # fmt: skip
    if needs is not None and has < needs:
        numbers["needs"] = str(needs[0])
        level = "warning" if compat else "error"
        return Finding(level, "driver_too_old_compat" if compat else "driver_too_old", numbers)
    full = SHIPPED.get(framework.cuda)
    if full is not None and has < full:
        numbers["needs"] = str(full[0])
        return Finding("warning", "driver_minor", numbers)
    return None


def against_gpu(framework: Framework, model: str) -> Finding | None:
    """Whether a build for that CUDA can hold code for that model at all."""
    if framework.cuda is None:
        return None
    for pattern, least in LEAST_CUDA:
        if re.search(pattern, model):
            major, minor = framework.cuda
            if (major, minor if minor >= 0 else 99) < least:
                return Finding(
                    "warning", "gpu_too_new",
                    {
                        "framework": framework.name, "version": _public(framework.version),
                        "cuda": framework.cuda_text or "", "model": model,
                        "needs": f"{least[0]}.{least[1]}",
                    },
                )  # fmt: skip
            return None
    return None


def on_server(
    frameworks: tuple[Framework, ...], driver: str | None, models: tuple[str, ...], compat: bool
) -> tuple[Finding, ...]:
    """All that this server's driver and GPUs mean for the frameworks, errors first."""
    found = []
    for framework in frameworks:
        said = against_driver(framework, driver, compat) if driver else None
        if said is not None:
            found.append(said)
        for model in sorted(set(models)):
            of_gpu = against_gpu(framework, model)
            if of_gpu is not None:
                found.append(of_gpu)
    return tuple(sorted(found, key=lambda one: one.level != "error"))


def _public(version: str) -> str:
    return version.partition("+")[0]
