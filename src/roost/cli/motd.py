"""What one should know at login, in a few lines of plain text. It never fails and never waits
long: a login must not depend on Roost.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context

WITHIN_S = 2.0


def motd(context: Context) -> int:
    """Nothing at all where the daemon is not there, or there is nothing to say. Exit code 0."""
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, WITHIN_S)
    try:
        _as_whoever_logs_in()
        answer = _asked(context)
        if context.json:
            context.out_json(answer)
        else:
            for line in _lines(context, answer):
                context.out(line)
    except Exception:  # noqa: BLE001 - whatever it is, a login goes on, and nothing is said of it
        return 0
    return 0


def _as_whoever_logs_in() -> None:
    """pam_exec runs it as root and names the account: root's rights are of no use for this."""
    name = os.environ.get("PAM_USER")
    if os.geteuid() != 0 or not name:
        return
    import pwd

    account = pwd.getpwnam(name)
    os.initgroups(name, account.pw_gid)
    os.setgid(account.pw_gid)
    os.setuid(account.pw_uid)


def _asked(context: Context) -> Any:
    from roost.client.api import Client

    client = Client(
        context.option("socket"), language=context.terminal.language, timeout_s=WITHIN_S
    )
    return client.call("GET", "/v1/motd")


def _lines(context: Context, answer: Any) -> list[str]:
    def when(text: str) -> str:
        return text[:16].replace("T", " ")

    say, lines = context.say, []
    lines += [
        say("cli_notify.motd_maintenance", start=when(one["start"]), end=when(one["end"]))
        for one in answer["maintenance"]
    ]
    booking = answer["booking"]
    if booking is not None:
        lines.append(
            say("cli_notify.motd_on" if booking["on"] else "cli_notify.motd_booking",
                booking=booking["booking"], gpus=booking["gpus"],
                start=when(booking["start"]), end=when(booking["end"]))
        )  # fmt: skip
    if answer["running"] or answer["waiting"]:
        lines.append(
            say("cli_notify.motd_jobs", running=answer["running"], waiting=answer["waiting"])
        )
    if answer["unread"]:
        lines.append(say("cli_notify.motd_unread", count=answer["unread"]))
    return lines
