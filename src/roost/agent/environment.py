"""The variables of a job: what its user submitted, with what Roost says of it put in once, and the
environment of Python (`roost env`) that it runs in.

No account is looked up here. Only `kind_at` touches a path, and that as the job's user.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from roost.machine.accounts import Account
from roost.wire.messages import LaunchSpec

DEFAULT_PATH = b"/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
KEPT = frozenset({b"ROOST_SOCKET", b"ROOST_STATE"})
MPS_PERCENTAGE = b"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"
OWN = frozenset(
    {b"CUDA_VISIBLE_DEVICES", b"CUDA_DEVICE_ORDER", b"NVIDIA_VISIBLE_DEVICES", MPS_PERCENTAGE}
)


def environment_of(
    spec: LaunchSpec, account: Account, status_file: str | None
) -> dict[bytes, bytes]:
    """Everything the job's process gets (docs/design/001, "What the job sees").

    ROOST_* and the GPU variables of the submitting shell never come through: that shell may itself
    have been a job with other GPUs.
    """
    made = {
        key: value
        for key, value in spec.environment.items()
        if key not in OWN and (key in KEPT or not key.startswith(b"ROOST_"))
    }
    made.setdefault(b"HOME", os.fsencode(account.home))
    made.setdefault(b"SHELL", os.fsencode(account.shell))
    made.setdefault(b"PATH", DEFAULT_PATH)
    made[b"USER"] = made[b"LOGNAME"] = os.fsencode(account.name)
    if spec.pty:
        made.setdefault(b"TERM", b"xterm-256color")
    made.update(_of_job(spec))
    made.update(_of_gpus(spec))
    if status_file is not None:
        made[b"ROOST_STATUS_FILE"] = os.fsencode(status_file)
    return made


def _of_job(spec: LaunchSpec) -> dict[bytes, bytes]:
    made = {
        b"ROOST_JOB_ID": b"%d" % spec.job,
        b"ROOST_JOB_NAME": spec.name.encode("utf-8", "surrogateescape"),
        b"ROOST_USER": spec.user.encode("utf-8", "surrogateescape"),
        b"ROOST_GROUP": spec.group.encode("utf-8", "surrogateescape"),
        b"ROOST_CLASS": spec.priority_class.encode("utf-8", "surrogateescape"),
        b"ROOST_RESTART_COUNT": b"%d" % spec.restart_count,
        b"ROOST_SUBMIT_DIR": spec.directory,
    }
    if spec.cpus:
        made[b"ROOST_CPUS"] = b"%d" % spec.cpus
    if spec.array_id is not None:
        made[b"ROOST_ARRAY_JOB_ID"] = b"%d" % spec.array_id
    if spec.array_index is not None:
        made[b"ROOST_ARRAY_INDEX"] = b"%d" % spec.array_index
    return made


def _of_gpus(spec: LaunchSpec) -> dict[bytes, bytes]:
    uuids = ",".join(gpu.uuid for gpu in spec.gpus).encode()
    made = {
        b"ROOST_GPUS": uuids,
        b"ROOST_GPU_COUNT": b"%d" % len(spec.gpus),
        b"CUDA_VISIBLE_DEVICES": uuids or b"NoDevFiles",
        b"CUDA_DEVICE_ORDER": b"PCI_BUS_ID",
        b"NVIDIA_VISIBLE_DEVICES": uuids or b"void",
    }
    shares = [b"%d" % gpu.memory_bytes for gpu in spec.gpus if gpu.memory_bytes is not None]
    if shares:
        made[b"ROOST_GPU_MEMORY_BYTES"] = b",".join(shares)
    if spec.gpu_compute_percent is not None:
        # Read by a program that goes through an MPS server, once, when it makes its CUDA context.
        made[b"ROOST_GPU_COMPUTE_PERCENT"] = b"%d" % spec.gpu_compute_percent
        made[MPS_PERCENTAGE] = b"%d" % spec.gpu_compute_percent
    return made


# -- an environment of Python ----------------------------------------------------------------------


def expanded(path: bytes, home: bytes) -> bytes:
    return home + path[1:] if path.startswith(b"~/") else path


def kind_at(path: bytes) -> str:
    """ "venv" or "conda", and notes that it was used. Called as its user. Raises OSError."""
    kind = "venv"
    try:
        os.stat(path + b"/pyvenv.cfg")
    except FileNotFoundError:
        os.stat(path + b"/conda-meta")
        kind = "conda"
    os.stat(path + b"/bin/python" if kind == "venv" else path + b"/bin")
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(OSError):  # somebody else's is not written to
        descriptor = os.open(path + b"/.roost-used", flags, 0o600)
        try:
            os.utime(descriptor)
        finally:
            os.close(descriptor)
    return kind


def within(
    variables: Mapping[bytes, bytes], path: bytes, kind: str, name: str
) -> dict[bytes, bytes]:
    """The variables as the environment's own activation would leave them, without its scripts.
    Those of one that was active in the submitting shell are gone."""
    made = dict(variables)
    left = [made.pop(key, b"") for key in (b"VIRTUAL_ENV", b"CONDA_PREFIX")]
    for key in (b"PYTHONHOME", b"VIRTUAL_ENV_PROMPT", b"CONDA_DEFAULT_ENV", b"CONDA_SHLVL"):
        made.pop(key, None)
    gone = {old + b"/bin" for old in left if old}
    folders = [one for one in made.get(b"PATH", DEFAULT_PATH).split(b":") if one not in gone]
    made[b"PATH"] = b":".join([path + b"/bin", *folders])
    if kind == "venv":
        made[b"VIRTUAL_ENV"] = path
    else:
        made[b"CONDA_PREFIX"] = path
        made[b"CONDA_DEFAULT_ENV"] = os.fsencode(name)
        made[b"PYTHONNOUSERSITE"] = b"1"
    made[b"ROOST_ENV"] = os.fsencode(name)
    return made
