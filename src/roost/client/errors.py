"""What can go wrong between a client and the daemon: codes and sentences, not how they show."""


class RoostError(Exception):
    """The daemon refused, or could not be understood.

    `code` is stable for programs (the last part of the problem's `type`), `text` is one sentence
    for a person, `status` the HTTP status (0 where there was no answer), `extra` the problem's
    other members ("key", "limit" ...).
    """

    def __init__(
        self, code: str, text: str, status: int = 0, extra: dict[str, object] | None = None
    ) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.status = status
        self.extra: dict[str, object] = extra or {}


class NoDaemonError(RoostError):
    """Nothing listens on the socket: it is not there, or its daemon is gone."""

    def __init__(self, path: str, missing: bool) -> None:
        super().__init__("no_daemon", f"no Roost daemon at {path}")
        self.path = path
        self.missing = missing


class NotAllowedError(RoostError):
    """The caller has no right to this (HTTP 403), or may not open the socket at all (status 0)."""


class AnswerLostError(RoostError):
    """The daemon went away after the request was sent: it may have been carried out, or not."""

    def __init__(self, method: str, target: str) -> None:
        text = f"the daemon went away before it answered {method} {target}"
        super().__init__("answer_lost", text)
