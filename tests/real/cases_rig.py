"""A whole daemon on fake GPUs with stand-in device files, for tests of what people met elsewhere.

Knows how to change what the driver says while the daemon runs; knows nothing of what is expected.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.real import rig
from tests.real.fakenvml.state import FakeProcess, FakeState, environment
from tests.real.who_rig import Processes, stand_in_nodes

ZH = {"LC_ALL": "zh_CN.UTF-8"}


class Server:
    """`state` is what the driver says from the next `write` on."""

    def __init__(self, roost: rig.Daemon, state: FakeState, folder: Path, devices: Path) -> None:
        self.roost, self.state, self.folder, self.devices = roost, state, folder, devices
        self.processes = Processes()

    def write(self) -> None:
        self.state.write(self.folder / "state")

    def node(self, index: int) -> str:
        return str(self.devices / f"nvidia{index}")

    def put(self, index: int, pid: int, memory: int, kinds: str = "C") -> None:
        self.state.gpus[index].processes.append(FakeProcess(pid, memory, kinds))
        self.write()

    def take(self, index: int) -> None:
        self.state.gpus[index].processes = []
        self.write()

    def rules(self, text: str) -> None:
        """Writes the rules and waits until they are in force."""
        (self.folder / "rules.toml").write_text(text)
        rig.wait_for(
            lambda: self.roost.json("root", "rules", "show")["text"] == text,
            "the rules are in force",
        )

    def health(self) -> list[str]:
        gpus = self.roost.json("root", "status")["gpus"]
        return [gpu["health"] for gpu in sorted(gpus, key=lambda gpu: gpu["index"])]

    def until(self, health: list[str], timeout_s: float = 20.0) -> None:
        rig.wait_for(lambda: self.health() == health, f"the cards are {health}", timeout_s)

    def opener(self, uid: int, node: str) -> int:
        """The process of that account that has the device file open, waited for."""

        def find() -> int | None:
            for pid in rig.processes_of(uid):
                with suppress(OSError):
                    names = os.listdir(f"/proc/{pid}/fd")
                    if any(os.readlink(f"/proc/{pid}/fd/{name}") == node for name in names):
                        return pid
            return None

        return int(rig.wait_for(find, f"somebody opens {node}"))


@contextmanager
def served(count: int = 4, rules: str = "operators = []\n") -> Iterator[Server]:
    """The daemon, its GPUs seen; all ended at the end."""
    with tempfile.TemporaryDirectory(prefix="roost-cs-") as name, stand_in_nodes(count) as devices:
        folder = Path(name)
        folder.chmod(0o755)
        state = FakeState.of("A100-80", count)
        state.write(folder / "state")
        (folder / "rules.toml").write_text(rules)
        variables = environment(folder / "state") | {
            "ROOST_DEVICE_DIR": str(devices),
            "ROOST_DEVICE_MAJORS": "1",
        }
        with rig.daemon("--rules", str(folder / "rules.toml"), environment=variables) as roost:
            made = Server(roost, state, folder, devices)
            made.until(["ok"] * count)
            try:
                yield made
            finally:
                made.processes.close()
