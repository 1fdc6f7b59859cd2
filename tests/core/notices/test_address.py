"""Which addresses of channels are understood, and that everything else is refused."""

from __future__ import annotations

import pytest

from roost.core.notices.address import ORIGINS, AddressError, origin_of, read_address

KEY = "693a91f6-7abc-4bc4-97a0-0ec2sifa5aaa"
BOT = "123456789:AAabcdefgh_ijklmnopqrstuvwx"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", "slack"),
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", "slack"),
        ("https://oapi.dingtalk.com/robot/send?access_token=abcdef0123456789", "dingtalk"),
        ("dingtalk://SECabc@abcdef0123456789", "dingtalk"),
        (f"https://open.feishu.cn/open-apis/bot/v2/hook/{KEY}", "feishu"),
        (f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={KEY}", "wecom"),
        (f"tgram://{BOT}/-1001234567", "telegram"),
    ],
)
def test_what_a_service_gives_out_is_understood_and_never_shown_whole(text: str, kind: str) -> None:
    address = read_address(f"  {text}\n")
    assert (address.kind, address.origin) == (kind, ORIGINS[kind])
    secret = address.parts.get("token") or address.parts["c"]
    assert secret not in address.masked and secret not in repr(address)


def test_a_webhook_is_known_by_its_origin_alone() -> None:
    address = read_address("https://Hooks.Lab.org:443/x/y?k=secret%20")
    assert (address.kind, address.origin) == ("webhook", "https://hooks.lab.org")
    assert address.parts["path"] == "/x/y?k=secret%20"
    assert "secret" not in address.masked + repr(address)
    assert read_address("json://[::1]:8080/").origin == "http://[::1]:8080"


@pytest.mark.parametrize(
    "text",
    [
        "file:///etc/passwd", "syslog://", "script://x", "mailto://u:p@evil.test", "dbus://",
        "slack://T1/A1/x?template=/etc/passwd", "tgram://1:a/2?image=file:///etc/shadow",
        "https://hooks.slack.com.evil.test@hooks.lab.org/x", "https://u:p@hooks.lab.org/",
        "https://hooks.slack.com/api/other", "https://h/x#f", "https://h/a b", "https://h:0/",
        "https://h:99999/", "https://h/\r\nHost: x", "http://h/\u4e2d", "https://", "", "x" * 501,
        "https://h\\@evil.test/", "slack://T1/A1", "javascript:alert(1)", "wecombot://a?rto=99",
    ],
)  # fmt: skip
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(AddressError):
        read_address(text)


def test_origins_are_compared_without_case_and_own_port() -> None:
    assert origin_of("HTTPS://Hooks.Lab.ORG:443/") == "https://hooks.lab.org"
    assert origin_of("http://h:443") == "http://h:443"
    with pytest.raises(AddressError):
        origin_of("https://h/path")
