"""Builds what the virtual machine boots: a Debian root with systemd, a kernel, a tiny initramfs,
and a second disk with the program under test.

The root and the kernel are kept outside the tree, in a folder named by the hash of the recipe, so
that only the first run pays for them. Nothing here knows what is tested inside.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SUITE = "bookworm"
PACKAGES = (
    "systemd,systemd-sysv,dbus,libpam-systemd,udev,python3,python3-venv,procps,kmod,util-linux,"
    "login,passwd"
)
KERNEL = "linux-image-cloud-amd64"
# In the order in which they are loaded; ext4 is built into Debian's kernel, virtio is not.
MODULES = (
    "drivers/virtio/virtio_ring.ko",
    "drivers/virtio/virtio.ko",
    "drivers/virtio/virtio_pci_modern_dev.ko",
    "drivers/virtio/virtio_pci_legacy_dev.ko",
    "drivers/virtio/virtio_pci.ko",
    "drivers/block/virtio_blk.ko",
)
ACCOUNTS = ("alice", "bob")
PAYLOAD_MOUNT = "/opt"

INIT = """#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
for module in @MODULES@; do /bin/busybox insmod /modules/$module; done
tries=0
until [ -b /dev/vda ] || [ $tries -gt 100 ]; do /bin/busybox sleep 0.1; tries=$((tries+1)); done
/bin/busybox mount -t ext4 /dev/vda /root
/bin/busybox mount --move /dev /root/dev
exec /bin/busybox switch_root /root /lib/systemd/systemd
"""

FSTAB = f"/dev/vda / ext4 rw 0 0\n/dev/vdb {PAYLOAD_MOUNT} ext4 ro,noload 0 0\n"

# One process in the guest runs the whole test; what it writes goes to the second serial port.
UNIT = f"""[Unit]
Description=The test inside
After=multi-user.target dbus.service systemd-logind.service
RequiresMountsFor={PAYLOAD_MOUNT}
[Service]
Type=oneshot
ExecStart=/usr/bin/python3 -u {PAYLOAD_MOUNT}/vm/guest.py
StandardOutput=file:/dev/ttyS1
StandardError=inherit
Environment=PYTHONDONTWRITEBYTECODE=1
[Install]
WantedBy=default.target
"""

MASKED = (
    "getty@tty1.service",
    "serial-getty@ttyS0.service",
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "fstrim.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
)


@dataclass(frozen=True, slots=True)
class Image:
    """`root` is the tree that `disk` (ext4, read by each run as a copy) was made of."""

    root: Path
    disk: Path
    kernel: Path
    initrd: Path


def cache_folder() -> Path:
    """Where built images and wheels are kept between runs; `ROOST_TEST_CACHE` moves it."""
    chosen = os.environ.get("ROOST_TEST_CACHE")
    return Path(chosen) if chosen else Path("/var/cache/roost-tests")


def missing_programs() -> list[str]:
    """Programs that the virtual machine needs and this machine lacks."""
    needed = ("qemu-system-x86_64", "debootstrap", "cpio", "mke2fs", "dpkg-deb", "apt-get")
    return [name for name in needed if shutil.which(name) is None]


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """What the command printed; raises with what it said, where it fails."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-2000:]
        raise RuntimeError(f"{command[0]} failed with {done.returncode}: {said}")
    return done.stdout


@contextmanager
def built_once(folder: Path) -> Iterator[Path | None]:
    """An empty folder to build in, which becomes `folder` at the end; None where it is there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_name(folder.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            yield None
            return
        building = folder.with_name(folder.name + ".building")
        if building.exists():
            shutil.rmtree(building)
        building.mkdir()
        yield building
        building.rename(folder)


def mirror() -> str:
    """The address that this machine's own apt takes Debian's packages from."""
    for codename in (SUITE, "*"):
        wanted = ["Created-By: Packages"] + ([f"Codename: {SUITE}"] if codename == SUITE else [])
        found = run("apt-get", "indextargets", "--format", "$(REPO_URI)", *wanted).split()
        if found:
            return found[0]
    raise RuntimeError("apt knows no source of packages; run apt-get update first")


def kernel_package() -> str:
    """The newest cloud kernel's package, behind the package that only depends on it."""
    for line in run("apt-cache", "depends", KERNEL).splitlines():
        word = line.split()
        if len(word) == 2 and word[0] == "Depends:" and word[1].startswith("linux-image-"):
            return word[1]
    raise RuntimeError(f"apt does not know {KERNEL}; run apt-get update first")


def unpack(package: str, folder: Path) -> Path:
    """Downloads a Debian package and unpacks it, without installing it."""
    folder.mkdir(parents=True)
    run("apt-get", "download", package, cwd=folder)
    tree = folder / "tree"
    run("dpkg-deb", "-x", next(folder.glob("*.deb")), tree)
    return tree


def build_initrd(kernel: Path, busybox: Path, folder: Path) -> Path:
    """An initramfs of busybox and six modules that mounts the disk and hands over to systemd."""
    tree = folder / "initrd"
    for name in ("bin", "dev", "root", "modules"):
        (tree / name).mkdir(parents=True)
    shutil.copy2(busybox / "bin/busybox", tree / "bin/busybox")
    modules = next((kernel / "lib/modules").iterdir()) / "kernel"
    names = []
    for path in MODULES:
        if not (modules / path).exists():  # built in, in some kernels
            continue
        shutil.copy2(modules / path, tree / "modules" / Path(path).name)
        names.append(Path(path).name)
    init = tree / "init"
    init.write_text(INIT.replace("@MODULES@", " ".join(names)))
    init.chmod(0o755)
    listing = "\n".join(str(path.relative_to(tree)) for path in [tree, *sorted(tree.rglob("*"))])
    initrd = folder / "initrd.cpio"
    with open(initrd, "wb") as out:
        subprocess.run(
            ["cpio", "--quiet", "-o", "-H", "newc"],
            cwd=tree,
            input=listing.encode(),
            stdout=out,
            check=True,
        )
    shutil.rmtree(tree)
    return initrd


def build_root(folder: Path) -> Path:
    """A Debian root with systemd, two accounts and the unit that runs the test."""
    root = folder / "root"
    run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, root, mirror())
    for account in ACCOUNTS:
        run("chroot", root, "useradd", "-m", "-s", "/bin/bash", account)
    (root / "etc/fstab").write_text(FSTAB)
    (root / "etc/hostname").write_text("gpuvm\n")
    (root / "etc/hosts").write_text("127.0.0.1 localhost gpuvm\n")
    units = root / "etc/systemd/system"
    (units / "roost-vm.service").write_text(UNIT)
    wants = units / "default.target.wants"
    wants.mkdir(exist_ok=True)
    (wants / "roost-vm.service").symlink_to("../roost-vm.service")
    for name in MASKED:
        path = units / name
        path.unlink(missing_ok=True)
        path.symlink_to("/dev/null")
    shutil.rmtree(root / "var/cache/apt/archives", ignore_errors=True)
    return root


def build_disk(tree: Path, disk: Path, size: str) -> Path:
    """An ext4 file system in a sparse file, holding the tree, made without mounting anything."""
    run("mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", tree, disk, size)
    return disk


def recipe_hash(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def base_image() -> Image:
    """The image to boot, built on the first call for this recipe (about two minutes)."""
    own = Path(__file__).read_text()
    folder = cache_folder() / f"vm-{recipe_hash([own])}"
    with built_once(folder) as building:
        if building is not None:
            kernel = unpack(kernel_package(), building / "kernel")
            busybox = unpack("busybox-static", building / "busybox")
            build_initrd(kernel, busybox, building)
            shutil.copy2(next((kernel / "boot").glob("vmlinuz-*")), building / "vmlinuz")
            shutil.rmtree(building / "kernel")
            shutil.rmtree(building / "busybox")
            build_disk(build_root(building), building / "root.ext4", "1500M")
    return Image(folder / "root", folder / "root.ext4", folder / "vmlinuz", folder / "initrd.cpio")
