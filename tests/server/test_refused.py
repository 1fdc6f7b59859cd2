"""A launch that the agent refuses: whose fault it is decides what becomes of the job."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.agent_peer import AgentPeer
from tests.server.rig import Server, submission, wait_for


@pytest.fixture
def open_server(server: Server, folder: Path) -> Server:
    folder.chmod(0o755)
    server.connected()
    return server


def test_a_job_goes_back_to_the_queue_when_the_agent_does_not_see_the_gpu(
    open_server: Server, peer: AgentPeer
) -> None:
    with open_server.client() as client:
        peer.refuse, peer.refuse_code = "this server has no such GPU", "unknown_gpu"
        job = client.submit(submission("sleep", "0"))["job"]
        wait_for(lambda: peer.refusals, "the agent was asked")
        peer.refuse = ""
        ended = client.wait(job, 20)
    assert (ended["state"], ended["restarts"]) == ("COMPLETED", 0)
