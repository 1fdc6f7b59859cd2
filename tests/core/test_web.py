"""Addresses, hosts and proxies: what is served where, and whose word is taken for whom."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from roost.core.web import WebError, account_of_address, client_of, host_of, web_settings


@pytest.mark.parametrize(
    ("http", "host", "port"),
    [
        ("127.0.0.1:8080", "127.0.0.1", 8080),
        ("[::1]:8080", "::1", 8080),
        ("localhost:80", "localhost", 80),
        ("8080", "127.0.0.1", 8080),
    ],
)
def test_plain_http_on_loopback(http: str, host: str, port: int) -> None:
    made = web_settings(http)
    assert (made.host, made.port, made.tls) == (host, port, False)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"http": "0.0.0.0:80"}, "plain_http"),
        ({"http": "[::]:80"}, "plain_http"),
        ({"http": "gpu1:80"}, "plain_http"),
        ({"http": "::1:80"}, "bad_address"),
        ({"http": "127.0.0.1:"}, "bad_address"),
        ({"http": "127.0.0.1:99999"}, "bad_address"),
        ({"http": "a b:80"}, "bad_address"),
        ({"http": "1", "prefix": "roost"}, "bad_prefix"),
        ({"http": "1", "prefix": "/a/../b"}, "bad_prefix"),
        ({"http": "1", "prefix": '/"><script>'}, "bad_prefix"),
        ({"http": "1", "certificate": "x"}, "half_a_certificate"),
        ({"http": "1", "names": ("a:80",)}, "bad_name"),
        ({"http": "1", "proxies": ("10.0.0.1/8",)}, "bad_proxy"),
    ],
)
def test_what_is_not_safe_or_not_clear_is_refused(words: dict[str, str], code: str) -> None:
    with pytest.raises(WebError) as refused:
        web_settings(**words)  # type: ignore[arg-type]
    assert refused.value.code == code


def test_tls_may_be_served_anywhere() -> None:
    made = web_settings("[::]:443", "/roost/", "c.pem", "k.pem")
    assert made.address == "https://[::]:443/roost/"


@pytest.mark.parametrize(
    ("header", "host"),
    [
        ("gpu1", "gpu1"),
        ("GPU1.example.org:443", "gpu1.example.org"),
        ("gpu1.", "gpu1"),
        ("[::1]:80", "::1"),
        ("127.0.0.1", "127.0.0.1"),
        ("", None),
        ("[::1", None),
        ("[evil]", None),
        ("a b", None),
        ("a@b", None),
        ("a:b", None),
        ("a/b", None),
    ],
)
def test_the_host_of_a_header(header: str, host: str | None) -> None:
    assert host_of(header) == host


PROXIES = (ip_network("10.0.0.0/24"), ip_network("127.0.0.1"))


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.1", ["203.0.113.5"], "192.0.2.1"),
        ("127.0.0.1", ["203.0.113.5"], "203.0.113.5"),
        ("127.0.0.1", ["1.1.1.1", "203.0.113.5"], "203.0.113.5"),
        ("127.0.0.1", ["1.1.1.1", "203.0.113.5", "10.0.0.7"], "203.0.113.5"),
        ("127.0.0.1", ["nonsense", "10.0.0.7"], "10.0.0.7"),
        ("::ffff:127.0.0.1", ["203.0.113.5"], "203.0.113.5"),
        ("127.0.0.1", [], "127.0.0.1"),
    ],
)
def test_only_trusted_proxies_say_who_asks(peer: str, forwarded: list[str], client: str) -> None:
    assert client_of(peer, forwarded, PROXIES) == client


def test_one_place_is_an_ipv4_address_or_a_64_of_ipv6() -> None:
    assert account_of_address("203.0.113.5") == "203.0.113.5"
    assert account_of_address("::ffff:203.0.113.5") == "203.0.113.5"
    here, there = "2001:db8:1:2::9", "2001:db8:1:2:ffff::1"
    assert account_of_address(here) == account_of_address(there) == "2001:db8:1:2::/64"
    assert account_of_address("2001:db8:1:3::9") != account_of_address(here)
