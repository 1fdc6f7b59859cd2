"""Roost's API as methods (docs/api.md). Knows paths and problems, not how anything is shown."""

from __future__ import annotations

from os import urandom

from roost.client.answer import value_of
from roost.client.http import Connection, RefusalError, quote
from roost.client.jsontext import dumps, loads
from roost.client.paths import default_socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, Self

    from roost.client.types import (
        FreeItem,
        Job,
        Jobs,
        Ping,
        Status,
        Submission,
        Submitted,
        Who,
        Why,
    )

SUBMISSION_TRIES = 20


class Client:
    """A connection to one daemon. `language` ("en", "zh") is that of its sentences.

    Every method raises RoostError when the daemon refuses, NotAllowedError among them for what the
    caller has no right to, and NoDaemonError when nothing listens. Use it in one thread.
    `patience_s`: how long to try a socket that nobody answers (a daemon that starts again).
    `answered`: this daemon has answered before, so that its absence may be a restart.
    """

    def __init__(
        self,
        socket_path: str | None = None,
        *,
        language: str = "en",
        timeout_s: float | None = 60.0,
        patience_s: float = 0.0,
    ) -> None:
        self.socket_path = socket_path or default_socket()
        self._headers = f"Accept-Language: {language}\r\n"
        self._connection = Connection(self.socket_path, timeout_s, patience_s)
        self.answered = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def call(self, method: str, target: str, body: Mapping[str, Any] | None = None) -> Any:
        """One call by method and path, for what has no method here. Returns the JSON answer."""
        data = None if body is None else dumps(dict(body)).encode("ascii")
        response = self._connection.request(method, target, self._headers, data)
        self.answered = True
        return value_of(response)

    def ping(self) -> Ping:
        """The daemon's version and server, and who the kernel says is calling."""
        answer: Ping = self.call("GET", "/v1/ping")
        return answer

    def status(self) -> Status:
        """Every GPU with its readings and holders."""
        answer: Status = self.call("GET", "/v1/status")
        return answer

    def who(self, gpu: str | None = None, user: str | None = None, scan: bool = False) -> Who:
        """Holders of GPU memory and processes. `scan` searches every process first."""
        query = _query(gpu=gpu, user=user, scan="1" if scan else None)
        answer: Who = self.call("GET", "/v1/who" + query)
        return answer

    def jobs(
        self,
        states: Iterable[str] = (),
        user: str | None = None,
        ended: bool = False,
        limit: int | None = None,
        after: int | None = None,
    ) -> Jobs:
        """Live jobs, with `ended` also ended ones, newest first; `after` is the last job seen."""
        query = _query(
            state=",".join(states) or None,
            user=user,
            ended="1" if ended else None,
            limit=limit,
            after=after,
        )
        answer: Jobs = self.call("GET", "/v1/jobs" + query)
        return answer

    def job(self, job: int) -> Job:
        answer: Job = self.call("GET", f"/v1/jobs/{job}")
        return answer

    def why(self, job: int) -> Why:
        """What a waiting job waits for, which rules and jobs stand before it, and until when."""
        answer: Why = self.call("GET", f"/v1/jobs/{job}/why")
        return answer

    def submit(self, submission: Submission) -> Submitted:
        """Queue a job of the caller's, once, also when the daemon dies before it has answered.

        AnswerLostError, after several tries: it may have been queued, or not.
        """
        headers = f"{self._headers}Idempotency-Key: {urandom(16).hex()}\r\n"
        data = dumps(dict(submission)).encode("ascii")
        request = self._connection.request
        response = request("POST", "/v1/jobs", headers, data, tries=SUBMISSION_TRIES)
        self.answered = True
        answer: Submitted = value_of(response)
        return answer

    def cancel(self, job: int) -> Job:
        answer: Job = self.call("POST", f"/v1/jobs/{job}/cancel")
        return answer

    def hold(self, job: int) -> Job:
        answer: Job = self.call("POST", f"/v1/jobs/{job}/hold")
        return answer

    def release(self, job: int) -> Job:
        answer: Job = self.call("POST", f"/v1/jobs/{job}/release")
        return answer

    def requeue(self, job: int) -> Job:
        answer: Job = self.call("POST", f"/v1/jobs/{job}/requeue")
        return answer

    def signal(self, job: int, signal: str) -> dict[str, Any]:
        """Send a running job a signal by name, without SIG ("USR1")."""
        answer: dict[str, Any] = self.call("POST", f"/v1/jobs/{job}/signal", {"signal": signal})
        return answer

    def wait(self, job: int, timeout_s: float = 30.0) -> Job:
        """The job when it has ended, or as it is at the timeout (below the connection's own)."""
        answer: Job = self.call("GET", f"/v1/jobs/{job}/wait?timeout_s={timeout_s:g}")
        return answer

    def bookings(
        self, start: str | None = None, end: str | None = None, user: str | None = None
    ) -> dict[str, Any]:
        """Bookings that lie in [start, end), ISO 8601; from now on where nothing is said."""
        answer: dict[str, Any] = self.call(
            "GET", "/v1/bookings" + _query(**{"from": start, "to": end, "user": user})
        )
        return answer

    def book(self, body: dict[str, Any]) -> dict[str, Any]:
        """Takes GPUs for a time; `body` as in docs/api.md."""
        answer: dict[str, Any] = self.call("POST", "/v1/bookings", body)
        return answer

    def book_all(self, body: dict[str, Any], key: str) -> dict[str, Any]:
        """Several at once, all or none; asked again with the same key, those of the first time."""
        headers = f"{self._headers}Idempotency-Key: {key}\r\n"
        data = dumps(body).encode("ascii")
        response = self._connection.request("POST", "/v1/bookings/batch", headers, data)
        answer: dict[str, Any] = value_of(response)
        return answer

    def booking(self, booking: int) -> dict[str, Any]:
        answer: dict[str, Any] = self.call("GET", f"/v1/bookings/{booking}")
        return answer

    def cancel_booking(self, booking: int, series: bool = False) -> dict[str, Any]:
        """Cancels it, or gives back what is left of it; `series`: and all that follow it."""
        body = {"series": True} if series else None
        answer: dict[str, Any] = self.call("POST", f"/v1/bookings/{booking}/cancel", body)
        return answer

    def change_booking(self, booking: int, body: dict[str, Any]) -> dict[str, Any]:
        """Another time, other GPUs, another purpose; `body` as in docs/api.md."""
        answer: dict[str, Any] = self.call("POST", f"/v1/bookings/{booking}/change", body)
        return answer

    def give_booking(self, booking: int, to: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.call("POST", f"/v1/bookings/{booking}/give", {"to": to})
        return answer

    def swap_bookings(self, booking: int, other: int) -> dict[str, Any]:
        answer: dict[str, Any] = self.call("POST", f"/v1/bookings/{booking}/swap", {"with": other})
        return answer

    def drain(self, gpu: str, reason: str = "") -> dict[str, Any]:
        """Start nothing new on a GPU (index or UUID). Operators only."""
        answer: dict[str, Any] = self.call(
            "POST", f"/v1/gpus/{quote(gpu)}/drain", {"reason": reason}
        )
        return answer

    def undrain(self, gpu: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.call("POST", f"/v1/gpus/{quote(gpu)}/undrain")
        return answer

    def free_plan(self, gpu: str, user: str | None = None) -> dict[str, Any]:
        """What `free` would end, and why each belongs to that GPU. Nothing is ended."""
        query = _query(user=user)
        answer: dict[str, Any] = self.call("GET", f"/v1/gpus/{quote(gpu)}/free-plan{query}")
        return answer

    def free(
        self, gpu: str, items: Iterable[FreeItem], grace_s: float | None = None
    ) -> dict[str, Any]:
        """End exactly these processes (of a `free_plan`): SIGTERM, grace, SIGKILL."""
        body: dict[str, Any] = {
            "items": [{"pid": i["pid"], "start_ticks": i["start_ticks"]} for i in items]
        }
        if grace_s is not None:
            body["grace_s"] = grace_s
        answer: dict[str, Any] = self.call("POST", f"/v1/gpus/{quote(gpu)}/free", body)
        return answer

    def driver_release(self) -> dict[str, Any]:
        """Let go of NVML, so that a GPU can be reset or MIG changed. Operators only."""
        answer: dict[str, Any] = self.call("POST", "/v1/driver/release")
        return answer

    def driver_hold(self) -> dict[str, Any]:
        answer: dict[str, Any] = self.call("POST", "/v1/driver/hold")
        return answer

    def usage(
        self, start: str | None = None, end: str | None = None, user: str | None = None
    ) -> dict[str, Any]:
        """Hourly ledger rows of [start, end), ISO 8601."""
        answer: dict[str, Any] = self.call(
            "GET", "/v1/usage" + _query(**{"from": start, "to": end, "user": user})
        )
        return answer

    def environments(self) -> dict[str, Any]:
        """Where one's own environments lie by the rules, and those that people share."""
        answer: dict[str, Any] = self.call("GET", "/v1/environments")
        return answer

    def send_objects(self, pieces: Iterable[bytes], size: int) -> dict[str, Any]:
        """Files of an environment as docs/api.md frames them, `size` bytes in all."""
        target = "/v1/environments/objects"
        answer: dict[str, Any] = value_of(
            self._connection.upload(target, self._headers, pieces, size)
        )
        return answer

    def tokens(self) -> dict[str, Any]:
        """The caller's tokens for the API over HTTP; an operator's answer has everybody's."""
        answer: dict[str, Any] = self.call("GET", "/v1/tokens")
        return answer

    def make_token(
        self, name: str = "", scopes: Iterable[str] = ("read",), expires_s: int | None = None
    ) -> dict[str, Any]:
        """A new token; its `secret` is told this once."""
        body: dict[str, Any] = {"name": name, "scopes": list(scopes)}
        if expires_s is not None:
            body["expires_s"] = expires_s
        answer: dict[str, Any] = self.call("POST", "/v1/tokens", body)
        return answer

    def revoke_token(self, token: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.call("DELETE", f"/v1/tokens/{quote(token)}")
        return answer

    def notifications(self) -> dict[str, Any]:
        """What the caller is told, how and where."""
        answer: dict[str, Any] = self.call("GET", "/v1/notifications")
        return answer

    def choose_notifications(self, choices: Mapping[str, Any]) -> dict[str, Any]:
        """Replaces the caller's choices: "language", "quiet", "digest_hour", "wanted"."""
        answer: dict[str, Any] = self.call("PUT", "/v1/notifications", choices)
        return answer

    def add_channel(self, address: str, name: str = "") -> dict[str, Any]:
        body = {"address": address, "name": name}
        answer: dict[str, Any] = self.call("POST", "/v1/notifications/channels", body)
        return answer

    def remove_channel(self, channel: str) -> dict[str, Any]:
        target = f"/v1/notifications/channels/{quote(channel)}"
        answer: dict[str, Any] = self.call("DELETE", target)
        return answer

    def test_channel(self, channel: str) -> dict[str, Any]:
        """Sends a test there: "sent", or the "problem"."""
        target = f"/v1/notifications/channels/{quote(channel)}/test"
        answer: dict[str, Any] = self.call("POST", target)
        return answer

    def notices(self, limit: int = 50) -> dict[str, Any]:
        """The caller's newest notices, newest first, and how many are unread."""
        answer: dict[str, Any] = self.call("GET", "/v1/notices" + _query(limit=str(limit)))
        return answer

    def read_notices(self, through: int) -> dict[str, Any]:
        answer: dict[str, Any] = self.call("POST", "/v1/notices/read", {"through": through})
        return answer

    def accounts(self) -> dict[str, Any]:
        """The machine's accounts of people, and the archives of removed ones. Operators only."""
        answer: dict[str, Any] = self.call("GET", "/v1/accounts")
        return answer

    def plan_accounts(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """The steps to what is wanted (docs/api.md), or what is wrong with it."""
        answer: dict[str, Any] = self.call("POST", "/v1/accounts/plan", wanted)
        return answer

    def change_accounts(self, wanted: Mapping[str, Any], plan: str) -> dict[str, Any]:
        """Does the steps of that plan. Waits for as long as it takes: a home may be packed."""
        data = dumps({**wanted, "plan": plan}).encode("ascii")
        connection = Connection(self.socket_path, None)
        try:
            response = connection.request("POST", "/v1/accounts/apply", self._headers, data)
        finally:
            connection.close()
        answer: dict[str, Any] = value_of(response)
        return answer

    def audit(self, limit: int | None = None) -> dict[str, Any]:
        """Who did what to whom; for members what concerns themselves."""
        answer: dict[str, Any] = self.call("GET", "/v1/audit" + _query(limit=limit))
        return answer

    def audit_checks(self, checks: Iterable[str] = ()) -> dict[str, Any]:
        """What is at risk on this machine; for members, of what is theirs."""
        query = "&".join(f"check={quote(name)}" for name in checks)
        answer: dict[str, Any] = self.call("GET", "/v1/audit/checks" + (query and f"?{query}"))
        return answer

    def audit_fix(self, findings: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Mends findings of `audit_checks`, each only if it is found again. Operators only."""
        wanted = [{"check": one["check"], "subject": one["subject"]} for one in findings]
        answer: dict[str, Any] = self.call("POST", "/v1/audit/fix", {"wanted": wanted})
        return answer

    def audit_undo(self, checks: Iterable[str] = ()) -> dict[str, Any]:
        """Takes back what was mended, of these checks or all. Operators only."""
        answer: dict[str, Any] = self.call("POST", "/v1/audit/undo", {"checks": list(checks)})
        return answer

    def rules(self) -> dict[str, Any]:
        """The rules in force, with their version."""
        answer: dict[str, Any] = self.call("GET", "/v1/rules")
        return answer

    def rules_version(self, version: int) -> dict[str, Any]:
        """The text of one version of the rules, with who and when."""
        answer: dict[str, Any] = self.call("GET", f"/v1/rules/{version}")
        return answer

    def rules_history(self, limit: int | None = None) -> dict[str, Any]:
        """The versions of the rules, newest first, each with the keys that it changed."""
        answer: dict[str, Any] = self.call("GET", "/v1/rules/history" + _query(limit=limit))
        return answer

    def history(self, start: str | None = None, end: str | None = None) -> Iterator[dict[str, Any]]:
        """Pages of what ran in [start, end), ISO 8601: `history` has its jobs, the first page the
        live ones too; a job that ends meanwhile comes twice, the last time as it is over."""
        after = None
        while True:
            query = _query(**{"from": start, "to": end, "after": after})
            page: dict[str, Any] = self.call("GET", "/v1/history" + query)
            yield page
            # Later pages of the same period, whatever the time is by then.
            start, end, after = page.get("from"), page.get("to"), page.get("next")
            if after is None:
                return

    def events(self) -> Iterator[tuple[str, Any]]:
        """(event, value) for "status", "who" and "jobs" whenever they change, on a connection of
        its own. Ends by AnswerLostError when the daemon goes; close the iterator to stop."""
        connection = Connection(self.socket_path, 60.0)
        name, data = "message", ""
        try:
            for raw in connection.lines("/v1/events", self._headers):
                line = raw.decode("utf-8")
                field, _, value = line.partition(":")
                value = value.removeprefix(" ")
                if not line:
                    if data:
                        yield name, loads(data)
                    name, data = "message", ""
                elif field == "event":
                    name = value
                elif field == "data":
                    data += value
        except RefusalError as refusal:
            value_of(refusal.response)
        finally:
            connection.close()


def _query(**fields: object) -> str:
    pairs = [f"{name}={quote(str(value))}" for name, value in fields.items() if value is not None]
    return "?" + "&".join(pairs) if pairs else ""
