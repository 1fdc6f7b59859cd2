"""What Apprise really sends for each service, to a real receiver under the service's own name, and
what no address of a person's can reach.
"""

from __future__ import annotations

import ipaddress
import json
import socket
import ssl
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from roost.core.notices.address import ORIGINS, Address, read_address
from roost.server.notify import guard as guards
from roost.server.notify.channels import deliver
from roost.server.notify.guard import Guard, ask, may_ask
from roost.server.notify.outcomes import LaterError, RefusedError, UnknownError
from tests.server.notify.receiver import Receiver, certificate, receiver

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
SUBJECT, LINES = "Job 42 failed", ("Job 42 failed", "训练失败")
KEY = "693a91f6-7abc-4bc4-97a0-0ec2sifa5aaa"
ADDRESSES = {
    "slack": "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ",
    "dingtalk": "dingtalk://SECabcdef@abcdef0123456789",
    "feishu": f"feishu://{KEY}",
    "wecom": f"wecombot://{KEY}",
    "telegram": "tgram://123456789:AAabcdefgh_ijklmnopqrstuvwx/-1001234567",
}


@pytest.fixture(scope="module")
def cert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = [urlsplit(origin).hostname or "" for origin in ORIGINS.values()]
    return certificate(tmp_path_factory.mktemp("cert"), *names)


def told(
    address: Address, box: Receiver, cert: Path | None = None, lines: tuple[str, ...] = LINES
) -> None:
    """Delivers with the name leading to the receiver, and its certificate trusted."""
    trust = None if cert is None else ssl.create_default_context(cafile=str(cert))
    if cert is not None:
        real = socket.create_connection

        def connect(where: tuple[str, int], timeout: float) -> socket.socket:
            assert where == ("127.0.0.1", 443)
            return real(("127.0.0.1", box.port), timeout)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(guards.socket, "create_connection", connect)
            guard = Guard(address.origin, LOOPBACK, trust, lambda *_: ["127.0.0.1"])
            deliver(address, guard, SUBJECT, lines)
        return
    deliver(address, Guard(address.origin, LOOPBACK), SUBJECT, lines)


def of(box: Receiver) -> tuple[str, dict[str, Any]]:
    ((path, headers, body),) = box.got
    assert headers["Content-Type"].startswith("application/json")
    return path, json.loads(body)


def test_slack(cert: Path) -> None:
    with receiver(cert) as box:
        box.answer = (200, {}, b"ok")
        told(read_address(ADDRESSES["slack"]), box, cert)
        path, sent = of(box)
        assert path == "/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
        assert box.got[0][1]["Host"] == "hooks.slack.com"
        assert SUBJECT in json.dumps(sent) and "训练失败" in json.dumps(sent, ensure_ascii=False)


def test_dingtalk_is_signed_and_a_refusal_in_its_answer_is_one(cert: Path) -> None:
    with receiver(cert) as box:
        box.answer = (200, {}, b'{"errcode":0,"errmsg":"ok"}')
        told(read_address(ADDRESSES["dingtalk"]), box, cert)
        path, sent = of(box)
        query = parse_qs(urlsplit(path).query)
        assert query["access_token"] == ["abcdef0123456789"]
        assert {"timestamp", "sign"} <= query.keys()
        assert sent["msgtype"] == "text" and "训练失败" in sent["text"]["content"]
        box.answer = (200, {}, b'{"errcode":310000,"errmsg":"sign not match"}')
        with pytest.raises(RefusedError, match="310000"):
            told(read_address(ADDRESSES["dingtalk"]), box, cert)
        box.answer = (200, {}, b'{"errcode":130101}')
        with pytest.raises(LaterError):
            told(read_address(ADDRESSES["dingtalk"]), box, cert)


def test_feishu_wecom_and_telegram(cert: Path) -> None:
    wanted = {
        "feishu": (f"/open-apis/bot/v2/hook/{KEY}/", "text"),
        "wecom": (f"/cgi-bin/webhook/send?key={KEY}", "text"),
        "telegram": ("/bot123456789:AAabcdefgh_ijklmnopqrstuvwx/sendMessage", "-1001234567"),
    }
    for kind, (path, within) in wanted.items():
        with receiver(cert) as box:
            told(read_address(ADDRESSES[kind]), box, cert)
            got, sent = of(box)
            assert got == path, kind
            assert within in json.dumps(sent), kind
            assert "训练失败" in json.dumps(sent, ensure_ascii=False), kind


def test_a_webhook_is_asked_at_the_very_address_that_was_given() -> None:
    with receiver() as box:
        address = read_address(f"http://127.0.0.1:{box.port}/a%2Fb/c?k=v%20w&-x=1")
        told(address, box)
        path, sent = of(box)
        assert path == "/a%2Fb/c?k=v%20w&-x=1"
        assert (sent["title"], sent["message"]) == (SUBJECT, "\n".join(LINES))


def test_a_redirect_is_not_followed() -> None:
    with receiver() as box, receiver() as other:
        box.answer = (302, {"Location": f"http://127.0.0.1:{other.port}/"}, b"")
        with pytest.raises(RefusedError, match="HTTP 302"):
            told(read_address(f"http://127.0.0.1:{box.port}/x"), box)
        assert len(box.got) == 1 and other.got == []


def test_a_name_that_leads_inside_is_not_asked_unless_the_operators_said_so() -> None:
    with receiver() as box:
        address = read_address(f"http://127.0.0.1:{box.port}/x")
        with pytest.raises(RefusedError, match="private address"):
            deliver(address, Guard(address.origin), SUBJECT, LINES)
        assert box.got == []


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True), ("2606:2800:220:1::1", True), ("10.0.0.1", False),
        ("127.0.0.1", False), ("169.254.169.254", False), ("::1", False), ("fe80::1%eth0", False),
        ("::ffff:10.0.0.1", False), ("2002:7f00:1::", False), ("0.0.0.0", False),
        ("100.64.0.1", False), ("fd00::1", False), ("224.0.0.1", False),
    ],
)  # fmt: skip
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert may_ask(address, ()) is public


def test_the_place_where_clouds_keep_their_secrets_is_never_asked() -> None:
    everything = (ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0"))
    assert may_ask("10.0.0.1", everything)
    assert not may_ask("169.254.169.254", everything)
    assert not may_ask("::ffff:169.254.169.254", everything)


def test_a_certificate_of_somebody_else_ends_it_before_anything_is_sent(cert: Path) -> None:
    with receiver(cert) as box:
        guard = Guard(
            f"https://hooks.lab.test:{box.port}", LOOPBACK,
            ssl.create_default_context(cafile=str(cert)), lambda *_: ["127.0.0.1"],
        )  # fmt: skip
        with pytest.raises(LaterError, match="certificate"):
            ask(guard, "POST", guard.origin + "/x", {}, b"{}")
        assert box.got == []
        with pytest.raises(RefusedError, match="other than"):
            ask(replace(guard, origin="https://hooks.lab.test"), "POST", guard.origin, {}, b"")


def test_what_comes_of_each_answer() -> None:
    with receiver() as box:
        address = read_address(f"http://127.0.0.1:{box.port}/x")
        for status, outcome in ((500, LaterError), (429, LaterError), (404, RefusedError)):
            box.answer = (status, {}, b"")
            with pytest.raises(outcome, match=f"HTTP {status}"):
                told(address, box)
        box.answer = (204, {}, b"")
        told(address, box)
    with pytest.raises(LaterError):
        told(address, box)  # nobody is there any more


def test_who_never_answers_or_drips_is_left_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "WITHIN_S", 1.0)
    with receiver() as box:
        address = read_address(f"http://127.0.0.1:{box.port}/x")
        box.answer, box.drip_s = (200, {}, b"x" * 1000), 0.2
        began = time.monotonic()
        told(address, box)  # that it was taken is said in the first line
        box.silent = True
        with pytest.raises(UnknownError):
            told(address, box)
        assert time.monotonic() - began < 6.0


def test_no_address_gets_into_an_error_or_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with receiver() as box:
        box.answer = (403, {}, b"secretpath")
        with pytest.raises(RefusedError) as refused:
            told(read_address(f"http://127.0.0.1:{box.port}/secretpath?k=secretkey"), box)
    assert "secret" not in str(refused.value) + caplog.text
