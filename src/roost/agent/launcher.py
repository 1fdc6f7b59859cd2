"""The fork server: a small process of one thread that forks a job's supervisor in a millisecond.

It has everything loaded that a supervisor needs, so that no job pays for an interpreter. The agent
talks to it over one SEQPACKET socket: a datagram is the name of an attempt's folder with the
supervisor's end of a control connection. When the agent is gone it ends; its supervisors live on.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys

from roost.agent import record, supervisor
from roost.agent.note import note
from roost.machine import kernel

MAX_NAME_BYTES = 64


def serve(requests: socket.socket, attempts: str) -> None:
    """Forks supervisors for attempts below `attempts` until the agent closes its end."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the supervisors
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    gc.disable()
    gc.freeze()
    while True:
        try:
            data, descriptors, _, _ = socket.recv_fds(requests, MAX_NAME_BYTES, 1)
        except OSError:
            return
        if not data:
            return
        name = data.decode("ascii", "replace")
        try:
            if record.parse_name(name) is not None:
                _fork(requests, f"{attempts}/{name}", descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)


def _fork(requests: socket.socket, folder: str, descriptors: list[int]) -> None:
    try:
        pid = os.fork()
    except OSError as error:
        note("no supervisor could be forked", folder=folder, error=str(error))
        return  # the agent sees its connection end and tries again
    if pid != 0:
        return
    code = 1
    try:
        requests.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        agent = socket.socket(fileno=descriptors[0]) if descriptors else None
        code = supervisor.main(folder, agent)
    except BaseException as error:  # noqa: BLE001 - the forked copy must never return into serve()
        note("supervisor failed", folder=folder, error=repr(error))
    finally:
        os._exit(code)


def main(arguments: list[str]) -> int:
    """`python -m roost.agent.launcher FD ATTEMPTS`: the agent starts it so."""
    os.chdir("/")
    requests = socket.socket(fileno=int(arguments[0]))
    os.set_inheritable(requests.fileno(), False)
    kernel.set_name("roost-launcher")
    serve(requests, arguments[1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
