"""A sign-in against providers that lie, over real HTTP: none of the lies gives claims."""

from __future__ import annotations

import asyncio
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from roost.core.oidc import OidcError, account_of
from roost.core.rules.model import OidcRules
from roost.server.api.oidc import inside
from roost.server.web.provider import Provider, secret_of
from tests.real.oidc_rig import CLIENT, lying

BACK = "http://127.0.0.1:1/v1/session/oidc"


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def sent_back(address: str) -> dict[str, str]:
    """What the provider sends the browser back with."""
    try:
        urllib.request.build_opener(_Stay).open(address, timeout=10)
    except urllib.error.HTTPError as answer:
        query = parse_qs(urlsplit(answer.headers["Location"]).query)
        return {name: values[0] for name, values in query.items()}
    raise AssertionError("no redirect")


async def signed_in(rules: OidcRules, provider: Provider | None = None) -> str:
    provider = provider or Provider()
    address, state, browser = await provider.begin(rules, BACK, "/")
    came = await asyncio.to_thread(sent_back, address)
    way = provider.take(state, browser)
    if "code" not in came:
        raise OidcError("oidc_denied")
    return account_of(await provider.claims(way, came["code"], came.get("iss")), rules)


def rules_of(issuer: str) -> OidcRules:
    return OidcRules(issuer, CLIENT, exact=True)


def test_an_honest_provider_signs_in() -> None:
    with lying("ann") as issuer:
        assert asyncio.run(signed_in(rules_of(issuer))) == "ann"


@pytest.mark.parametrize(
    ("lie", "code"),
    [
        *((lie, "oidc_untrue") for lie in (
            "nonce", "no_nonce", "aud", "two_aud", "azp", "iss_claim", "expired", "old",
            "endless_exp", "text_exp", "no_sub", "none", "hs", "other_key", "unknown_key",
            "garbage", "iss",
        )),
        *((lie, "oidc_away") for lie in (
            "issuer", "leads_away", "redirect", "endless", "silent", "secret_key",
        )),
        ("denied", "oidc_denied"),
        ("list_name", "oidc_no_account"),
    ],
)  # fmt: skip
def test_a_lie_signs_nobody_in(lie: str, code: str) -> None:
    with lying("ann", lie) as issuer, pytest.raises(OidcError) as refused:
        asyncio.run(signed_in(rules_of(issuer)))
    assert refused.value.code == code


def test_a_provider_that_is_down_says_so() -> None:
    with pytest.raises(OidcError) as refused:
        asyncio.run(signed_in(rules_of("http://127.0.0.1:9")))
    assert refused.value.code == "oidc_away"


def test_a_state_holds_once_and_for_the_browser_that_began() -> None:
    async def tried(issuer: str) -> None:
        provider = Provider()
        _, state, browser = await provider.begin(rules_of(issuer), BACK, "/")
        for wrong in ("", "another"):
            with pytest.raises(OidcError):
                provider.take(state, wrong)
        provider.take(state, browser)
        with pytest.raises(OidcError):
            provider.take(state, browser)

    with lying("ann") as issuer:
        asyncio.run(tried(issuer))


def test_a_state_ends_after_ten_minutes() -> None:
    now = [0.0]

    async def tried(issuer: str) -> None:
        provider = Provider(steady=lambda: now[0])
        _, state, browser = await provider.begin(rules_of(issuer), BACK, "/")
        now[0] = 601.0
        with pytest.raises(OidcError):
            provider.take(state, browser)

    with lying("ann") as issuer:
        asyncio.run(tried(issuer))


@pytest.mark.parametrize(
    "name",
    [
        "root",
        "Ann",
        "ANN",
        "../ann",
        "ann/",
        "аnn",
        "ann\u200b",
        "ａnn",
        "ann ",
        "ann\x00",
        "",
        "-a",
    ],
)
def test_what_only_looks_like_a_name_is_none(name: str) -> None:
    with pytest.raises(OidcError):
        account_of({"preferred_username": name}, rules_of("https://a.example"))


def test_an_address_counts_where_it_is_verified_and_named() -> None:
    rules = OidcRules("https://a.example", CLIENT, claim="email", users={"a@b.example": "ann"})
    assert account_of({"email": "a@b.example", "email_verified": True}, rules) == "ann"
    for wrong in ({"email_verified": "true"}, {}, {"email_verified": 1}):
        with pytest.raises(OidcError):
            account_of({"email": "a@b.example", **wrong}, rules)
    with pytest.raises(OidcError):
        account_of({"email": "A@b.example", "email_verified": True}, rules)


@pytest.mark.parametrize(
    "to",
    ["//evil.example", "https://evil.example", "/\\evil.example", "\\\\evil", "javascript:1",
     "/v1/session", "/a\r\nX: y", "", "queue", "/ a"],
)  # fmt: skip
def test_nobody_is_led_elsewhere(to: str) -> None:
    assert inside(to) == "/"


def test_a_deep_link_is_kept() -> None:
    assert inside("/jobs/7?tab=log") == "/jobs/7?tab=log"


def test_a_secret_that_everybody_may_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("s3cret\n")
    rules = OidcRules("https://a.example", CLIENT, str(file))
    file.chmod(0o640)
    assert secret_of(rules) == "s3cret"
    file.chmod(0o644)
    with pytest.raises(OidcError):
        secret_of(rules)
