"""The process that looks, mends or undoes: one order comes in, facts or outcomes go out."""

from __future__ import annotations

import os
import resource
import signal
import sys

import msgspec

from roost.machine.audit.look import Question, look
from roost.machine.audit.mend import Mend, Undo, mend, undo
from roost.machine.tail import become

SLACK_S = 5
MEND_S = 60


def main() -> None:
    order = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Question | Mend | Undo)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(0o077)
    answer: object
    if isinstance(order, Question):
        os.nice(5)
        signal.alarm(int(order.within_s) + SLACK_S)
        if order.uid is not None and os.geteuid() == 0:
            become(order.uid, order.gid, list(order.groups))
        answer = look(order)
    else:
        signal.alarm(MEND_S)
        answer = mend(order) if isinstance(order, Mend) else undo(order)
    sys.stdout.buffer.write(msgspec.msgpack.encode(answer))
    sys.stdout.buffer.flush()
    os._exit(0)


main()
