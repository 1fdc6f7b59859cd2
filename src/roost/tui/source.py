"""Where the view's data come from and where its actions go: a protocol, and the daemon behind it.

Must not know how anything is drawn. Nothing here may be called from the thread that draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from roost.client.api import Client
from roost.client.errors import RoostError

Answer = Mapping[str, object]

ALIVE_S = 5.0
"""A daemon that lets one wait longer than this for its status is away."""


class SourceError(Exception):
    """The daemon refused or could not do it; the text is a sentence for a person."""


class SourceAwayError(SourceError):
    """The daemon cannot be reached: try again later."""


class Source(Protocol):
    """The daemon's answers as docs/api.md describes them, and the three things a viewer may do.

    Every call may block for seconds. It raises `SourceAwayError` where the daemon is away, and
    `SourceError` where it says no.
    """

    def whoami(self) -> Answer:
        """`/v1/ping`: who is asking, and whether as an operator."""

    def status(self) -> Answer:
        """`/v1/status`"""

    def who(self) -> Answer:
        """`/v1/who`"""

    def jobs(self) -> Answer:
        """`/v1/jobs`: the live ones."""

    def events(self) -> Iterator[tuple[str, Answer]] | None:
        """`/v1/events` as (name, answer), or None where there is no stream and one must ask."""

    def alive(self) -> Answer:
        """`/v1/status` within seconds, on a connection of its own; another thread may ask."""

    def cancel(self, job: int) -> Answer:
        """End a job."""

    def free_plan(self, gpu: int, user: str | None) -> Answer:
        """What `free` would end on that GPU, with the identity of each process."""

    def free(self, gpu: int, items: Sequence[Answer]) -> Answer:
        """End exactly these processes (`pid`, `start_ticks`)."""

    def close(self) -> None:
        """Let go of the connection; a call that waits in another thread ends."""


class ClientSource:
    """The daemon at a socket (None: the default one), spoken to in `language`.

    The thread of the feed keeps one connection; what the person asks gets one of its own.
    """

    def __init__(self, socket: str | None, language: str) -> None:
        self._socket = socket
        self._language = language
        self._client = self._connect()

    def whoami(self) -> Answer:
        return _said(self._client.ping)

    def status(self) -> Answer:
        return _said(self._client.status)

    def who(self) -> Answer:
        return _said(self._client.who)

    def jobs(self) -> Answer:
        return _said(self._client.jobs)

    def events(self) -> Iterator[tuple[str, Answer]] | None:
        return self._events()

    def _events(self) -> Iterator[tuple[str, Answer]]:
        try:
            yield from self._client.events()
        except RoostError as error:
            raise _as_source_error(error) from error
        except OSError as error:
            raise SourceAwayError(str(error)) from error

    def alive(self) -> Answer:
        with self._connect(timeout_s=ALIVE_S) as client:
            return _said(client.status)

    def cancel(self, job: int) -> Answer:
        with self._connect() as client:
            return _said(lambda: client.cancel(job))

    def free_plan(self, gpu: int, user: str | None) -> Answer:
        with self._connect() as client:
            return _said(lambda: client.free_plan(str(gpu), user))

    def free(self, gpu: int, items: Sequence[Answer]) -> Answer:
        exact = [{"pid": item["pid"], "start_ticks": item["start_ticks"]} for item in items]
        with self._connect() as client:
            return _said(lambda: client.call("POST", f"/v1/gpus/{gpu}/free", {"items": exact}))

    def close(self) -> None:
        """The feed's connection ends with the process: closing it under the other thread would
        only turn its wait into an error."""

    def _connect(self, timeout_s: float = 60.0) -> Client:
        return Client(self._socket, language=self._language, timeout_s=timeout_s)


def _said(ask: Callable[[], object]) -> Answer:
    try:
        answer = ask()
    except RoostError as error:
        raise _as_source_error(error) from error
    except OSError as error:
        raise SourceAwayError(str(error)) from error
    if not isinstance(answer, Mapping):
        raise SourceError("the daemon's answer is no JSON object")
    return answer


def _as_source_error(error: RoostError) -> SourceError:
    """Away where nobody answered (status 0) or a part of the daemon is down, else a refusal."""
    away = error.status in (0, 502, 503, 504)
    return (SourceAwayError if away else SourceError)(error.text)
