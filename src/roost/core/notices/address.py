"""Where a person's notices may go: the addresses that are understood, and how they are shown.

Nothing of Apprise's many schemas gets through but these five services and webhooks, taken apart by
strict patterns: no parameters, no files, no other hosts. Must not know how anything is sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

LONGEST = 500
ORIGINS: Mapping[str, str] = {
    "slack": "https://hooks.slack.com",
    "dingtalk": "https://oapi.dingtalk.com",
    "feishu": "https://open.feishu.cn",
    "wecom": "https://qyapi.weixin.qq.com",
    "telegram": "https://api.telegram.org",
}
SERVICES = tuple(ORIGINS)
_WORD = r"[A-Za-z0-9_-]{1,128}"
_CHAT = r"-?[0-9]{1,20}"
_PARTS = r"(?P<a>[A-Za-z0-9]{1,32})/(?P<b>[A-Za-z0-9]{1,32})/(?P<c>[A-Za-z0-9]{1,64})"
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.ASCII))
    for kind, pattern in (
        ("slack", rf"https://hooks\.slack\.com/services/{_PARTS}/?"),
        ("slack", rf"slack://{_PARTS}/?"),
        ("dingtalk", rf"https://oapi\.dingtalk\.com/robot/send\?access_token=(?P<token>{_WORD})"),
        ("dingtalk", rf"dingtalk://(?:(?P<secret>{_WORD})@)?(?P<token>{_WORD})/?"),
        ("feishu", rf"https://open\.feishu\.cn/open-apis/bot/v2/hook/(?P<token>{_WORD})/?"),
        ("feishu", rf"feishu://(?P<token>{_WORD})/?"),
        ("wecom", rf"https://qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=(?P<token>{_WORD})"),
        ("wecom", rf"wecombot://(?P<token>{_WORD})/?"),
        ("telegram", rf"tgram://(?:bot)?(?P<token>[0-9]{{1,20}}:{_WORD})/(?P<chat>{_CHAT})/?"),
    )
)
_WEBHOOKS = {"http": "http", "https": "https", "json": "http", "jsons": "https"}
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]", re.ASCII)
_PATH = re.compile(r"(?:/[A-Za-z0-9._~!$&'()*+,;=:@%-]*)*(?:\?[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)?")


class AddressError(ValueError):
    """`code` names a message of the `notify` area."""

    def __init__(self, code: str, **numbers: object) -> None:
        super().__init__(code)
        self.code = code
        self.numbers = numbers


@dataclass(frozen=True, slots=True)
class Address:
    """`kind`: a service or "webhook". `parts` are secret, as is the path of a webhook; `origin`
    ("https://host:port", lower case, without the scheme's own port) is not."""

    kind: str
    origin: str
    parts: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def masked(self) -> str:
        """For its owner to know it by: never enough to send with."""
        if self.kind == "webhook":
            return f"{self.origin}/…" if self.parts["path"] not in ("", "/") else self.origin
        last = self.parts.get("chat") or self.parts.get("c") or self.parts.get("token") or ""
        return f"{self.kind} …{last[-4:] if len(last) >= 12 else ''}"


def read_address(text: str) -> Address:
    """Raises AddressError."""
    given = text.strip()
    if not given or len(given) > LONGEST or not given.isascii() or not given.isprintable():
        raise AddressError("address_unreadable")
    for kind, pattern in _FORMS:
        found = pattern.fullmatch(given)
        if found is not None:
            parts = {name: value for name, value in found.groupdict().items() if value}
            return Address(kind, ORIGINS[kind], parts)
    scheme, separator, _ = given.partition("://")
    if not separator or scheme.lower() not in _WEBHOOKS:
        shown = scheme.lower()[:20] if separator else "–"
        raise AddressError("address_scheme", scheme=shown)
    return _webhook(_WEBHOOKS[scheme.lower()], given)


def _webhook(scheme: str, given: str) -> Address:
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:
        raise AddressError("address_unreadable") from None
    if "@" in parts.netloc:
        raise AddressError("address_with_user")
    origin = origin_of(f"{scheme}://{parts.netloc}")
    path = given.split("://", 1)[1].removeprefix(parts.netloc)
    if port == 0 or _PATH.fullmatch(path) is None:
        raise AddressError("address_unreadable")
    if origin in ORIGINS.values():
        raise AddressError("address_of_service", origin=origin)
    return Address("webhook", origin, {"path": path})


def origin_of(text: str) -> str:
    """ "https://hooks.lab.org:8443" as it is compared. Raises AddressError."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise AddressError("address_unreadable") from None
    host = parts.netloc.rpartition(":")[0] if port is not None else parts.netloc.rstrip(":")
    more = parts.path not in ("", "/") or parts.query or parts.fragment
    if parts.scheme not in ("http", "https") or _HOST.fullmatch(host) is None or more:
        raise AddressError("address_unreadable")
    own = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host.lower()}" + (f":{port}" if port not in (None, own) else "")
