"""What an answer of the API says: its value, or the problem that it tells."""

from __future__ import annotations

from roost.client.errors import NotAllowedError, RoostError
from roost.client.jsontext import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.client.http import Response


def value_of(response: Response) -> Any:
    """The answer's JSON. Raises RoostError for a problem document (RFC 9457) or any other refusal.

    A server error without a document is told as such, with its status.
    """
    text = response.body.decode("utf-8", "replace")
    if 200 <= response.status < 300:
        try:
            return loads(text) if text else {}
        except ValueError:
            raise RoostError(
                "not_json", "the daemon's answer is no JSON", response.status
            ) from None
    problem: dict[str, Any] = {}
    if "json" in response.headers.get("content-type", ""):
        try:
            found = loads(text)
        except ValueError:
            found = None
        if isinstance(found, dict):
            problem = found
    code = str(problem.get("type", "")).rsplit("/", 1)[-1] or f"http_{response.status}"
    sentence = problem.get("detail") or problem.get("title")
    if not isinstance(sentence, str):
        sentence = f"the daemon answered with HTTP {response.status}"
    known = ("type", "title", "status", "detail")
    extra = {key: value for key, value in problem.items() if key not in known}
    kind = NotAllowedError if response.status in (401, 403) else RoostError
    raise kind(code, sentence, response.status, extra)
