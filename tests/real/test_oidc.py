"""Signing in by a provider: Chromium, a provider over real HTTP, real accounts, the daemon."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.real import rig
from tests.real.oidc_rig import CLIENT, lying
from tests.real.web_rig import Browser, free_port, set_password

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium")
PASSWORD = "paper-Boat 7"
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: accounts, PAM")
in_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")


@pytest.fixture(scope="module")
def people() -> Iterator[list[rig.Account]]:
    with rig.accounts("ann", "ben", prefix="roi-") as made:
        for account in made:
            set_password(account.name, PASSWORD)
        yield made


def rules_of(issuer: str, secret: Path | None = None) -> str:
    secret_file = "" if secret is None else f'secret_file = "{secret}"\n'
    return (
        f'[oidc]\n{secret_file}issuer = "{issuer}"\nclient_id = "{CLIENT}"\n'
        'name = "Lab"\nexact = true\n'
        '[oidc.users]\n"li wei" = "roi-ben"\n'
    )


@contextmanager
def daemon(issuer: str, secret: Path | None = None) -> Iterator[tuple[rig.Daemon, int]]:
    port = free_port()
    words = ("--simulate", "2xA100", "--http", f"127.0.0.1:{port}", "--http-prefix", "/roost")
    with rig.daemon(*words, rules=rules_of(issuer, secret)) as running:
        yield running, port


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """A provider that others wrote (oidc-provider-mock), in a process of its own."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "oidc_provider_mock", "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "AUTHLIB_INSECURE_TRANSPORT": "1"},
    )  # fmt: skip
    try:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        for subject, name in (("1", "roi-ann"), ("2", "li wei"), ("3", "nobody-here")):
            body = json.dumps({"preferred_username": name}).encode()
            asked = urllib.request.Request(
                f"http://127.0.0.1:{port}/users/{subject}", body,
                {"Content-Type": "application/json"}, method="PUT",
            )  # fmt: skip
            urllib.request.urlopen(asked, timeout=10).close()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def site(people: list[rig.Account], provider: str) -> Iterator[tuple[rig.Daemon, int]]:
    folder = Path(tempfile.mkdtemp(prefix="roi-"))
    folder.chmod(0o755)
    secret = folder / "secret"
    secret.touch(0o600)
    secret.write_text("s3cret of roost\n")
    done = subprocess.run([sys.executable, ROOT / "hatch_build.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    try:
        with daemon(provider, secret) as made:
            os.chown(secret, os.stat(f"/proc/{made[0].pid_of('server')}").st_uid, -1)
            yield made
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def by_provider(chromium: Any, port: int, view: str, subject: str, button: str) -> Any:
    """A page after the way to the provider and back."""
    locale = "zh-CN" if button.startswith("使用") else "en-GB"
    context = chromium.new_context(base_url=f"http://127.0.0.1:{port}/roost/", locale=locale)
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.goto(view)
    page.get_by_role("button", name=button).click()
    page.fill("input[name=sub]", subject)
    page.locator("button[type=submit]:not([value=deny])").first.click()
    return page


@in_chromium
def test_a_person_signs_in_and_ends_at_the_view_that_was_asked_for(
    chromium: Any, site: tuple[rig.Daemon, int]
) -> None:
    running, port = site
    page = by_provider(chromium, port, "queue?user=roi-ann", "1", "Sign in with Lab")
    page.wait_for_url("**/roost/queue?user=roi-ann")
    page.get_by_role("link", name="Queue").wait_for()
    session = page.evaluate("fetch('v1/session').then(answer => answer.json())")
    assert session["user"] == "roi-ann"
    cookies = {one["name"]: one for one in page.context.cookies()}
    assert cookies["roost_session"]["httpOnly"]
    assert cookies["roost_session"]["sameSite"] == "Strict"
    assert not any(name.startswith("roost_oidc_") for name in cookies)
    told = running.json("root", "audit", "log")["audit"]
    assert any(one["action"] == "sign-in" and "oidc" in (one["detail"] or "") for one in told)
    page.context.close()


@in_chromium
def test_the_rules_say_whose_account_it_is_in_chinese_too(
    chromium: Any, site: tuple[rig.Daemon, int]
) -> None:
    page = by_provider(chromium, site[1], "", "2", "使用 Lab 登录")
    page.wait_for_selector("[data-gpu]")
    session = page.evaluate("fetch('v1/session').then(answer => answer.json())")
    assert session["user"] == "roi-ben"
    page.context.close()


@in_chromium
def test_who_has_no_account_is_told_so_and_passwords_still_work(
    chromium: Any, site: tuple[rig.Daemon, int]
) -> None:
    page = by_provider(chromium, site[1], "queue", "3", "Sign in with Lab")
    page.get_by_role("alert").get_by_text("no account on this server is yours").wait_for()
    assert "signin=" not in page.url
    page.fill("input[name=user]", "roi-ann")
    page.fill("input[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.get_by_role("link", name="Queue").wait_for()
    page.context.close()


def came_back(port: int, to: str = "/queue") -> tuple[int, str, bool, Any]:
    """By hand: status, place and whether a session came of it, and the way back to send again."""
    browser = Browser(port, "/roost")
    begun = browser.ask("POST", "/v1/session/oidc", {"to": to})
    if begun.status != 200:
        return begun.status, "", False, begun
    cookie = begun.cookies[0].split(";", 1)[0]
    opener = urllib.request.build_opener(_Stay)
    try:
        opener.open(begun.json["address"], timeout=10)
        raise AssertionError("no redirect")
    except urllib.error.HTTPError as answer:
        parts = urlsplit(answer.headers["Location"])
    path = f"{parts.path.removeprefix('/roost')}?{parts.query}"

    def again(cookie: str = cookie) -> tuple[int, str, bool]:
        got = browser.ask("GET", path, headers={"Cookie": cookie})
        session = any(one.startswith("roost_session=") for one in got.cookies)
        return got.status, got.headers.get("location", ""), session

    return (*again(), again)


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


@pytest.mark.parametrize(
    ("user", "lie", "code"),
    [
        ("roi-ann", "", ""),
        *(("roi-ann", lie, "oidc_untrue") for lie in ("nonce", "aud", "none", "hs", "other_key",
                                                      "expired", "iss")),
        ("roi-ann", "denied", "oidc_denied"),
        *((name, "", "oidc_no_account") for name in ("root", "daemon", "ROI-ANN", "roi-ann/",
                                                     "../roi-ann", "roi-\u0430nn")),
    ],
)  # fmt: skip
def test_only_an_honest_word_about_a_person_opens_a_session(
    people: list[rig.Account], user: str, lie: str, code: str
) -> None:
    with lying(user, lie) as issuer, daemon(issuer) as (running, port):
        status, place, session, again = came_back(port)
        assert status == 303
        assert place == ("/roost/queue" if not code else f"/roost/queue#signin={code}")
        assert session is not bool(code)
        # Neither the same answer again nor one without the cookie opens anything.
        for cookie in ({}, {"cookie": "roost_oidc_x=1"}):
            replayed = again(**cookie)
            assert replayed[1:] == ("/roost/#signin=oidc_stale", False)
        if code:
            refused = [one for one in running.json("root", "audit", "log")["audit"]
                       if one["outcome"] == "refused"]  # fmt: skip
            assert refused
        if not code:
            assert came_back(port, "//evil.example")[1] == "/roost/"


def test_a_provider_that_is_down_is_said_and_passwords_work(people: list[rig.Account]) -> None:
    with daemon(f"http://127.0.0.1:{free_port()}") as (_, port):
        status, _, _, answer = came_back(port)
        assert (status, answer.json["type"]) == (503, "/problems/oidc_away")
        assert Browser(port, "/roost").sign_in("roi-ann", PASSWORD).status == 200


def test_without_the_rule_there_is_no_such_way_in(people: list[rig.Account]) -> None:
    port = free_port()
    with rig.daemon("--simulate", "1xA100", "--http", f"127.0.0.1:{port}"):
        browser = Browser(port)
        assert browser.ask("GET", "/v1/ping").json["sign_in"] == ["password"]
        assert browser.ask("POST", "/v1/session/oidc", {}).status == 404
        assert browser.ask("GET", "/v1/session/oidc?state=a&code=b").status == 404
