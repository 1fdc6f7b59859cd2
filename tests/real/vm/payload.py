"""The second disk: Roost installed by pip as on any server, a fake NVML, and the testing program.

Roost is installed inside the image's own root by chroot, so that its Python and paths are the
guest's. The dependencies are kept between runs, by the hash of the constraints.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.real.fakenvml.build import build as build_nvml
from tests.real.fakenvml.state import FakeState
from tests.real.vm.image import (
    PAYLOAD_MOUNT,
    Image,
    build_disk,
    built_once,
    cache_folder,
    recipe_hash,
    run,
)

ROOT = Path(__file__).resolve().parents[3]
GUEST_PYTHON = "3.11"
# Wheels built for any of these run on the image's C library.
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")


def dependencies(image: Image) -> Path:
    """A tree with `roost/`, an environment that holds the pinned dependencies; made once."""
    pinned = (ROOT / "constraints.txt").read_text().split("# development\n")[0]
    folder = cache_folder() / f"vm-venv-{recipe_hash([pinned, str(image.root), __file__])}"
    with built_once(folder) as building:
        if building is not None:
            wheels = building / "wheels"
            listed = building / "pinned.txt"
            listed.write_text(pinned)
            only = ["--only-binary=:all:", f"--python-version={GUEST_PYTHON}"]
            only += [f"--platform={name}" for name in PLATFORMS]
            python = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
            run(*python, "-q", "--require-hashes", *only, "-r", listed, "-d", wheels)
            inside(image, building, "python3", "-m", "venv", f"{PAYLOAD_MOUNT}/roost")
            install(image, building, [f"{PAYLOAD_MOUNT}/wheels/{p.name}" for p in wheels.iterdir()])
            shutil.rmtree(wheels)
    return folder


def inside(image: Image, mounted: Path, *command: str) -> None:
    """Runs a command in the image's root, with that folder at the payload's place.

    The mount is in a namespace of its own: nothing of it is left on this machine.
    """
    script = 'mount --bind "$1" "$2$3" && shift 3 && exec chroot "$@"'
    run(
        "unshare", "--mount", "--propagation=private", "sh", "-c", script, "sh",
        mounted, image.root, PAYLOAD_MOUNT, image.root, *command,
    )  # fmt: skip


def install(image: Image, mounted: Path, wheels: list[str]) -> None:
    pip = [f"{PAYLOAD_MOUNT}/roost/bin/pip", "install", "-q", "--no-index", "--no-deps"]
    inside(image, mounted, *pip, "--no-compile", "--root-user-action=ignore", *wheels)
    # Emulated, Python is slow: it must never compile there, whatever the disk makes of file times.
    compiled = ["-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    inside(image, mounted, "python3", *compiled, f"{PAYLOAD_MOUNT}/roost/lib")


def roost_wheel(folder: Path) -> Path:
    """This source tree as a wheel."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "-q"]
    if importlib.util.find_spec("hatchling"):
        command.append("--no-build-isolation")
    run(*command, "--no-deps", "-w", folder, ROOT)
    return next(folder.glob("roost-*.whl"))


def build_payload(image: Image, folder: Path, gpus: int) -> Path:
    """The disk for one run, in `folder`."""
    tree = folder / "payload"
    shutil.copytree(dependencies(image), tree, symlinks=True)
    wheel = roost_wheel(folder)
    shutil.copy2(wheel, tree / wheel.name)
    install(image, tree, [f"{PAYLOAD_MOUNT}/{wheel.name}"])
    (tree / wheel.name).unlink()
    vm = tree / "vm"
    vm.mkdir()
    shutil.copy2(Path(__file__).with_name("guest.py"), vm / "guest.py")
    shutil.copytree(build_nvml("v3"), vm / "nvml", symlinks=True)
    fake = vm / "tests/real/fakenvml"
    shutil.copytree(
        ROOT / "tests/real/fakenvml", fake, ignore=shutil.ignore_patterns("c", "test_*")
    )
    FakeState.of("A100-80", gpus).write(vm / "gpus")
    subprocess.run(["chmod", "-R", "a+rX", str(tree)], check=True)
    disk = build_disk(tree, folder / "payload.ext4", "600M")
    shutil.rmtree(tree)
    return disk


def copy_of_disk(image: Image, folder: Path) -> Path:
    """The root's disk for one run: sparse, or sharing its blocks with the original."""
    disk = folder / "disk.ext4"
    run("cp", "--sparse=always", "--reflink=auto", image.disk, disk)
    os.sync()
    return disk
