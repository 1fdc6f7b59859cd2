"""How a supervisor takes up one attempt: at most one ever executes it.

The order of lock, started and end is the protocol of docs/design/001.
"""

from __future__ import annotations

import os
import socket

from roost.agent import record
from roost.agent.note import note
from roost.agent.record import RecordError
from roost.agent.supervisor import Supervisor
from roost.machine import kernel


def supervise(folder: str, agent: socket.socket | None, children: int) -> None:
    """Sees the attempt whose record is in `folder` through to its end.

    `agent` is a link to the agent that asked for it; `children` becomes readable at SIGCHLD. Raises
    OSError when the folder is not there.
    """
    folder_fd = record.open_folder(folder)
    lock = None
    try:
        lock = record.try_lock(folder_fd)
        if lock is None:
            return  # another supervisor has this attempt
        if record.read_started(folder_fd) is not None or record.read_end(folder_fd) is not None:
            return  # it was executed: never again. The agent sees to what is left of it
        prepared = record.read_prepared(folder_fd)
        kernel.set_name(f"roost:{prepared.spec.job}.{prepared.spec.attempt}")
        supervisor = Supervisor(folder_fd, prepared, agent, children)
        try:
            supervisor.run()
        finally:
            supervisor.close()
    except RecordError as error:
        note("attempt record unusable", folder=folder, error=str(error))
    finally:
        if lock is not None:
            os.close(lock)
        os.close(folder_fd)
