"""A class that needs a reason: refused without one, on record with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roost.client.errors import RoostError
from tests.server.rig import Server, submission, wait_for

RULES = "[classes.urgent]\nrequire_reason = true\n"


@pytest.fixture
def ruled(server: Server, folder: Path) -> Server:
    folder.chmod(0o755)
    server.connected()
    with server.client() as client:
        before = wait_for(lambda: client.rules()["version"], "the first rules")
        server.rules.write_text(RULES)
        wait_for(lambda: client.rules()["version"] == before + 1, "the rules are in force")
    return server


def plain(**more: Any) -> Any:
    return submission("sleep", "0", **more)


def urgent(**more: Any) -> Any:
    return plain(**{"class": "urgent"}, **more)


def test_an_urgent_job_needs_a_reason_and_it_is_in_the_audit_log(ruled: Server) -> None:
    with ruled.client() as client:
        for reason in ("", "   "):
            with pytest.raises(RoostError, match="--reason") as caught:
                client.submit(urgent(reason=reason))
            assert "classes.urgent.require_reason" in str(caught.value)
        assert client.jobs()["jobs"] == [], "nothing was queued"
        job = client.submit(urgent(reason=" camera-ready due at noon "))["job"]
        client.submit(plain())
        entries = [row for row in client.audit()["audit"] if row["action"] == "submit"]
        assert [(row["subject"], row["outcome"], row["detail"]) for row in entries] == [
            (f"job {job}", "urgent", "camera-ready due at noon")
        ]
        array = urgent(array="0-2", reason="sweep")
        first = client.submit(array)["job"]
        newest = client.audit()["audit"][0]
        assert newest["subject"] == f"jobs {first} to {first + 2}"
    with ruled.client("zh") as client, pytest.raises(RoostError, match="须写明理由"):
        client.submit(urgent())


def test_a_reason_is_one_line(ruled: Server) -> None:
    with ruled.client() as client:
        for reason in ("a\nb", "a\x1b[31m", "a\u2028b"):
            with pytest.raises(RoostError, match="one line"):
                client.submit(urgent(reason=reason))
