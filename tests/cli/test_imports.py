"""What a command may import: Python's start is most of what it costs (docs/design/003)."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.cli.stub import Stub

HEAVY = {
    "re", "enum", "json", "socket", "dataclasses", "typing", "datetime", "argparse", "subprocess",
    "http.client", "logging", "asyncio", "inspect", "importlib", "contextlib", "hashlib", "locale",
    "selectors", "signal", "tempfile", "shutil", "zoneinfo", "functools", "collections",
    "roost.core.model", "roost.server", "roost.agent", "roost.machine", "roost.wire", "msgspec",
}  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [["status"], ["jobs"], ["run", "--", "/bin/true"], ["show", "42"], ["status", "--json"]],
)
def test_nothing_heavy_is_imported(stub: Stub, words: list[str]):
    code = (
        "import os, sys; before = set(sys.modules)\n"
        "from roost.cli.main import call\n"
        f"code = call({words!r})\n"
        "new = sorted(set(sys.modules) - before)\n"
        "import json; os.write(2, json.dumps([code, new]).encode())"
    )
    env = {
        "PATH": "/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
        "ROOST_SOCKET": stub.path,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env=env, capture_output=True, check=True
    )
    code_, imported = json.loads(done.stderr)
    assert code_ == 0
    assert not set(imported) & HEAVY
    assert len(imported) < 30, imported
