"""A message to a person's channel, through Apprise. Must not know whose it is, nor the database.

Apprise makes the request as each service wants it; `guard` sends it, in place of the library that
Apprise would use: what it is given to ask with is all that the plugins get to see.
"""

from __future__ import annotations

import importlib
import json
import logging
import threading
from functools import cache
from typing import Any

from roost.core.notices.address import Address
from roost.server.notify.guard import Answer, Guard, ask
from roost.server.notify.outcomes import LaterError, RefusedError, UnknownError

LONGEST_TEXT = 3000
_MODULES = {
    "slack": "slack", "dingtalk": "dingtalk", "feishu": "feishu", "wecom": "wecombot",
    "telegram": "telegram", "webhook": "custom_json",
}  # fmt: skip
# Of services that answer 200 whatever came of it: where they say so, and which is "too often".
_CODES = ("errcode", "code", "StatusCode", "error_code")
_TOO_OFTEN = {130101, 45009, 11232, 9499, 429}
_now = threading.local()


class _Asking:
    """What stands where the plugins look for `requests`. Each thread has a guard of its own."""

    def __init__(self, real: Any) -> None:
        self.codes = real.codes
        self.RequestException = real.RequestException
        self._real = real

    def request(self, method: str, url: str, **more: Any) -> Any:
        known = {name: more.get(name) for name in ("data", "headers", "params", "auth", "json")}
        made = self._real.Request(method.upper(), url, **known).prepare()
        body = made.body.encode() if isinstance(made.body, str) else made.body
        try:
            # A webhook's address is its owner's to the letter; Apprise would write it anew.
            address = _now.url or made.url
            answer = ask(_now.guard, made.method, address, dict(made.headers), body)
        except (LaterError, RefusedError, UnknownError) as error:
            _now.outcome = error
            raise self._real.RequestException("not sent") from error
        _now.outcome = answer
        response = self._real.Response()
        response.status_code, response._content = answer.status, answer.body
        return response

    def post(self, url: str, **more: Any) -> Any:
        return self.request("POST", url, **more)


@cache
def _apprise() -> Any:
    """The library, loaded when the first message goes out: it is heavy."""
    import requests

    # It would write addresses to the log, and they are secrets.
    quiet = logging.getLogger("apprise")
    quiet.setLevel(logging.CRITICAL + 1)
    quiet.propagate = False
    library = importlib.import_module("apprise")
    library.Apprise()
    for name in set(_MODULES.values()):
        plugin: Any = importlib.import_module(f"apprise.plugins.{name}")
        plugin.requests = _Asking(requests)
    return library


def deliver(address: Address, guard: Guard, subject: str, lines: tuple[str, ...]) -> None:
    """Returns when the other side has taken it. Raises LaterError, RefusedError, UnknownError."""
    library = _apprise()
    asset = library.AppriseAsset(app_id="Roost", app_desc="Roost", app_url="", plugin_paths=[])
    plugin = library.Apprise.instantiate(_told(address), asset=asset, suppress_exceptions=True)
    if plugin is None:
        raise RefusedError("Apprise does not take the address")
    text = "\n".join(lines)[:LONGEST_TEXT]
    _now.guard, _now.outcome, _now.url = guard, None, None
    if address.kind == "webhook":
        _now.url = address.origin + address.parts["path"]
    try:
        plugin.send(body=text, title=subject, notify_type=library.NotifyType.INFO)
        outcome = _now.outcome
    finally:
        _now.guard = _now.outcome = _now.url = None
    if isinstance(outcome, Exception):
        raise outcome
    if outcome is None:
        raise RefusedError("Apprise sent nothing")
    _judge(outcome, address.kind)


def _told(address: Address) -> dict[str, Any]:
    """The address as Apprise's plugins take it, part by part: none of its own parsing."""
    parts = address.parts
    common = {"redirect": False, "rto": 5.0, "cto": 5.0}
    match address.kind:
        case "slack":
            return {**common, "schema": "slack", "token_a": parts["a"], "token_b": parts["b"],
                    "token_c": parts["c"], "include_image": False}  # fmt: skip
        case "dingtalk":
            return {**common, "schema": "dingtalk", "token": parts["token"],
                    "secret": parts.get("secret")}  # fmt: skip
        case "feishu":
            return {**common, "schema": "feishu", "token": parts["token"]}
        case "wecom":
            return {**common, "schema": "wecombot", "key": parts["token"]}
        case "telegram":
            return {**common, "schema": "tgram", "bot_token": parts["token"],
                    "targets": [parts["chat"]], "detect_owner": False}  # fmt: skip
    scheme, _, host = address.origin.partition("://")
    name, _, port = host.rpartition(":") if host[-1] != "]" and ":" in host else (host, "", "")
    return {
        **common, "schema": "jsons" if scheme == "https" else "json", "host": name,
        "port": int(port) if port else None, "fullpath": parts["path"],
    }  # fmt: skip


def _judge(answer: Answer, kind: str) -> None:
    status = answer.status
    if status in (408, 425, 429) or status >= 500:
        raise LaterError(f"HTTP {status}", whole=False)
    if not 200 <= status < 300:
        raise RefusedError(f"HTTP {status}")
    if kind == "webhook":
        return
    try:
        said = json.loads(answer.body)
    except (ValueError, RecursionError):
        return
    if not isinstance(said, dict):
        return
    codes = [said[one] for one in _CODES if isinstance(said.get(one), int) and said[one]]
    if codes and codes[0] in _TOO_OFTEN:
        raise LaterError(f"code {codes[0]}", whole=False)
    if codes or said.get("ok") is False:
        raise RefusedError(f"code {codes[0]}" if codes else "it says no")
