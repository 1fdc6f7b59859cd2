"""What tests of bookings in use stand on: processes started by hand on simulated cards, and what
people were told. Knows nothing of what is expected.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.real import rig


@contextmanager
def at_a_prompt(account: rig.Account) -> Iterator[subprocess.Popen[bytes]]:
    """A process that the account started by hand."""
    process = subprocess.Popen(
        ["/bin/sleep", "600"], user=account.uid, group=account.gid, extra_groups=[], cwd="/"
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


class Cards:
    """What runs on simulated GPUs without a job."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o755)
        self._path = folder / "cards.toml"
        self.environment = {"ROOST_SIMULATE_FAULTS": str(self._path)}

    def put(self, **pids: int) -> None:
        """`gpu0=4711`: that process holds memory of GPU 0; nothing is on the others."""
        text = "".join(
            f"[[gpu.{name.removeprefix('gpu')}.process]]\npid = {pid}\nmemory_mib = 4000\n"
            for name, pid in pids.items()
        )
        beside = self._path.with_suffix(".new")
        beside.write_text(text)
        beside.rename(self._path)


def notices(roost: rig.Daemon, kind: str) -> list[tuple[str, Any]]:
    """Whom notices of that kind are for and what they tell, as the database has them."""
    with sqlite3.connect(f"file:{roost.state}/roost.db?mode=ro", uri=True) as store:
        asked = 'SELECT "user", detail FROM notices WHERE kind = ? ORDER BY id'
        return [(user, json.loads(detail)) for user, detail in store.execute(asked, (kind,))]


def told(roost: rig.Daemon, kind: str) -> list[str]:
    return [user for user, _ in notices(roost, kind)]


def states(roost: rig.Daemon, *numbers: int) -> list[str]:
    listed = roost.json("root", "bookings", *map(str, numbers))["bookings"]
    return [one["state"] for one in listed]


def soon(seconds: float) -> str:
    """So many seconds from when the command asks, however long it takes to begin."""
    return f"+{seconds:g}s"
