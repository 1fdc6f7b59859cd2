"""Builds the fake NVML library with the machine's C compiler, else with ziglang, once per source.

One build a process layout: which symbols a driver exports is fixed when it is linked. Knows nothing
of state files.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = Path(__file__).parent / "c"

_LISTS = ("Compute", "Graphics", "MPSCompute")
_V3 = tuple(f"nvmlDeviceGet{kind}RunningProcesses_v3" for kind in _LISTS)
_V2 = tuple(f"nvmlDeviceGet{kind}RunningProcesses_v2" for kind in _LISTS)
_DETAIL = ("nvmlDeviceGetRunningProcessDetailList",)
_CC = ("nvmlDeviceGetConfComputeMemSizeInfo",)
_MEMORY = ("nvmlDeviceGetMemoryInfo_v2",)

LAYOUTS: dict[str, tuple[int, tuple[str, ...]]] = {
    # name: bytes of a v3 entry, symbols that this driver lacks
    "v3": (24, ()),  # 535.104.05 and later
    "v3-32": (32, _DETAIL),  # 535.43 to 535.8x
    "no-v3": (24, _V3 + _DETAIL),  # 535.98
    "v2": (24, _V3 + _DETAIL + _CC + _MEMORY),  # 450.51 to 510
    "v1": (24, _V3 + _V2 + _DETAIL + _CC + _MEMORY),  # before 450.51
}


def compiler() -> list[str]:
    """The command of a C compiler. Raises RuntimeError where there is none."""
    for name in ("gcc", "cc", "clang"):
        if path := shutil.which(name):
            return [path]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise RuntimeError("no C compiler: install gcc, or `pip install ziglang`")


def known_names() -> list[str]:
    """Every NVML function that nvidia-ml-py and nvitop ask the library for."""
    names: set[str] = {"nvmlDeviceGetDriverModel_v2"}
    for module, inside in (("pynvml", None), ("nvitop", "api/libnvml.py")):
        spec = importlib.util.find_spec(module)
        if spec is None or spec.origin is None:
            continue
        path = Path(spec.origin).parent / inside if inside else Path(spec.origin)
        names.update(re.findall(r"""["'](nvml[A-Z]\w+)["']""", path.read_text(encoding="utf-8")))
    return sorted(names)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    path = Path(base) if base else Path(tempfile.gettempdir())
    path = path / f"roost-fake-nvml-{os.geteuid()}"
    path.mkdir(mode=0o755, parents=True, exist_ok=True)
    if path.stat().st_uid != os.geteuid():
        raise RuntimeError(f"{path} belongs to somebody else: set XDG_CACHE_HOME")
    return path


def build(layout: str = "v3") -> Path:
    """The folder with `libnvidia-ml.so.1` of that layout: what LD_LIBRARY_PATH is to name.

    Raises RuntimeError with the compiler's words when it fails.
    """
    stride, hidden = LAYOUTS[layout]
    stubs = "".join(
        f'__attribute__((weak, visibility("default"))) int {name}(void) {{ return 3; }}\n'
        for name in known_names()
    )
    script = "{ global: nvml*; local: " + "".join(f"{name}; " for name in hidden) + "*; };\n"
    command = compiler()
    digest = hashlib.sha256("\0".join([layout, stubs, script, *command]).encode())
    for source in sorted(SOURCES.iterdir()):
        digest.update(source.read_bytes())
    done = _cache() / f"{layout}-{digest.hexdigest()[:16]}"
    if done.is_dir():
        return done
    work = Path(tempfile.mkdtemp(dir=done.parent))
    try:
        (work / "stubs.c").write_text(stubs)
        (work / "map").write_text(script)
        result = subprocess.run(
            [
                *command,
                *("-std=gnu11", "-Wall", "-Wextra", "-O2", "-fPIC", "-shared", "-pthread"),
                *("-fvisibility=hidden", f"-DV3_STRIDE={stride}", f"-I{SOURCES}"),
                *("-Wl,-soname,libnvidia-ml.so.1", f"-Wl,--version-script={work / 'map'}"),
                *("-o", str(work / "libnvidia-ml.so.1")),
                *(str(path) for path in sorted(SOURCES.glob("*.c"))),
                str(work / "stubs.c"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            raise RuntimeError(f"the fake NVML does not build:\n{result.stderr}")
        (work / "libnvidia-ml.so").symlink_to("libnvidia-ml.so.1")
        work.chmod(0o755)
        try:
            work.rename(done)
        except OSError:  # another test run was faster
            if not done.is_dir():
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return done


if __name__ == "__main__":
    print(build(*sys.argv[1:2]))
