"""Signing in as real accounts with real passwords, through PAM, over the daemon's real listener."""

from __future__ import annotations

import concurrent.futures
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from roost.agent.signin import asked
from roost.machine.signin import Question
from tests.real import rig
from tests.real.web_rig import Answer, Browser, free_port, set_password

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: accounts, passwords, PAM")
PASSWORDS = {"ann": "plain-Pass 1", "umlaut": "Grüße, 早上好 ñ", "long": "x" * 500}
SERVICE = Path("/etc/pam.d/roost")
SHUT = ("locked", "expired", "mustchange", "nopassword", "nologin")


@pytest.fixture(scope="module")
def people() -> Iterator[dict[str, rig.Account]]:
    names = (*PASSWORDS, *SHUT, "empty", "guessed")
    with rig.accounts(*names, prefix="rsi-") as made:
        found = dict(zip(names, made, strict=True))
        for name in (*PASSWORDS, *SHUT, "guessed"):
            set_password(f"rsi-{name}", PASSWORDS.get(name, "secret-1"))
        for words in (
            ("passwd", "-l", "rsi-locked"),
            ("chage", "-E", "1", "rsi-expired"),
            ("chage", "-d", "0", "rsi-mustchange"),
            ("usermod", "-p", "!", "rsi-nopassword"),
            ("usermod", "-s", "/usr/sbin/nologin", "rsi-nologin"),
            ("passwd", "-d", "rsi-empty"),
        ):
            subprocess.run(words, check=True, capture_output=True)
        yield found


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def running(people: dict[str, rig.Account], port: int) -> Iterator[rig.Daemon]:
    with rig.daemon(
        "--simulate", "2xA100", "--http", f"127.0.0.1:{port}", "--trusted-proxy", "127.0.0.99"
    ) as made:
        yield made


@pytest.fixture
def browser(running: rig.Daemon, port: int) -> Browser:
    return Browser(port)


@pytest.mark.parametrize("name", PASSWORDS)
def test_an_account_signs_in_with_its_password(
    browser: Browser, people: dict[str, rig.Account], name: str
) -> None:
    answer = browser.sign_in(f"rsi-{name}", PASSWORDS[name])
    assert answer.status == 200, answer.text
    told = answer.json
    assert (told["user"], told["uid"]) == (f"rsi-{name}", people[name].uid)
    assert told["role"] == "member"
    assert rig.instant(told["expires_time"]) > time.time()
    (cookie,) = answer.cookies
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    again = browser.ask("GET", "/v1/session")
    assert again.json == told
    assert browser.ask("GET", "/v1/ping").json["user"] == f"rsi-{name}"
    assert browser.ask("GET", "/v1/status").status == 200


def shape(answer: Answer) -> tuple[object, ...]:
    return answer.status, answer.text, sorted(answer.headers), answer.cookies


def test_every_refusal_is_the_same_and_takes_as_long(running: rig.Daemon, port: int) -> None:
    tries = [
        ("rsi-ann", "wrong"),
        ("rsi-long", PASSWORDS["long"][:-1]),
        ("rsi-ann", PASSWORDS["ann"] + "\0more"),
        *((f"rsi-{name}", "secret-1") for name in SHUT),
        ("rsi-empty", "anything"),
        ("rsi-nobody-there", "secret-1"),
        ("root", "secret-1"),
        ("daemon", "secret-1"),
    ]
    shapes, took = set(), []
    for number, (user, password) in enumerate(tries):
        # Each from an address of its own: how often one may try is another test.
        began = time.monotonic()
        answer = Browser(port, source=f"127.0.0.{number + 10}").sign_in(user, password)
        took.append(time.monotonic() - began)
        shapes.add(repr(shape(answer)))
        assert answer.status == 401, (user, answer.text)
        assert answer.json["type"] == "/problems/sign_in_refused"
    assert len(shapes) == 1
    assert min(took) > 2.4
    assert max(took) - min(took) < 1.0, took


def test_a_password_in_no_log_and_no_row(running: rig.Daemon, browser: Browser) -> None:
    assert browser.sign_in("rsi-umlaut", PASSWORDS["umlaut"]).status == 200
    Browser(browser.port, source="127.0.0.60").sign_in(
        "my-secret-typed-as-name", "wrong-password-7"
    )
    files = [path for path in Path(running.state).rglob("*") if path.is_file()]
    stored = b"".join(path.read_bytes() for path in files)
    for secret in (PASSWORDS["umlaut"], "wrong-password-7", browser.cookie):
        assert secret.encode() not in stored
    assert b"my-secret-typed-as-name" not in stored
    told = [
        line
        for line in running.json("root", "audit", "log")["audit"]
        if line["action"] == "sign-in"
    ]
    assert {line["outcome"] for line in told} >= {"done", "refused"}


def test_changes_need_the_sessions_own_token(browser: Browser) -> None:
    browser.sign_in("rsi-ann", PASSWORDS["ann"])
    job = {"command": ["true"], "directory": "/tmp"}
    other = Browser(browser.port)
    other.sign_in("rsi-umlaut", PASSWORDS["umlaut"])
    for wrong in ("", "0" * 40, other.csrf):
        answer = browser.ask("POST", "/v1/jobs", job, {"X-Roost-CSRF": wrong})
        assert (answer.status, answer.json["type"]) == (403, "/problems/csrf")
    right = browser.ask("POST", "/v1/jobs", job)
    assert right.status == 201, right.text
    foreign = browser.ask("POST", "/v1/jobs", job, {"Origin": "https://evil.example"})
    assert foreign.json["type"] == "/problems/other_site"


def test_signing_out_ends_the_session_for_good(browser: Browser) -> None:
    browser.sign_in("rsi-ann", PASSWORDS["ann"])
    assert browser.ask("DELETE", "/v1/session", headers={"X-Roost-CSRF": ""}).status == 403
    gone = browser.ask("DELETE", "/v1/session")
    assert gone.status == 200
    assert 'roost_session=""' in gone.cookies[0]
    for path in ("/v1/session", "/v1/status"):
        assert browser.ask("GET", path).status == 401


def test_one_sees_and_ends_ones_own_sessions_alone(browser: Browser) -> None:
    other = Browser(browser.port)
    browser.sign_in("rsi-ann", PASSWORDS["ann"])
    other.sign_in("rsi-umlaut", PASSWORDS["umlaut"])
    mine = browser.ask("GET", "/v1/sessions").json["sessions"]
    assert {one["user"] for one in mine} == {"rsi-ann"}
    theirs = next(o for o in other.ask("GET", "/v1/sessions").json["sessions"] if o["this"])
    refused = browser.ask("DELETE", f"/v1/sessions/{theirs['session']}")
    assert refused.status == 404
    assert other.ask("GET", "/v1/session").status == 200
    here = next(one for one in mine if one["this"])
    assert browser.ask("DELETE", f"/v1/sessions/{here['session']}").status == 200
    assert browser.ask("GET", "/v1/session").status == 401


def test_sessions_survive_the_servers_death(browser: Browser, running: rig.Daemon) -> None:
    browser.sign_in("rsi-ann", PASSWORDS["ann"])
    assert running.kill("server")

    def back() -> bool:
        try:
            return browser.ask("GET", "/v1/session").status == 200
        except OSError:
            return False

    rig.wait_for(back, "the session is known again")


def test_too_many_tries_of_an_account_or_an_address(running: rig.Daemon, port: int) -> None:
    # One address: told to wait, whatever it says next.
    there = {"X-Forwarded-For": "203.0.113.9"}
    here = Browser(port, source="127.0.0.99", headers=there)
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda n: here.sign_in(f"rsi-none{n}", "x").status, range(12)))
    assert sorted(answers) == [401] * 10 + [429] * 2
    limited = here.sign_in("rsi-ann", PASSWORDS["ann"])
    assert limited.status == 429
    assert 0 < int(limited.headers["retry-after"]) <= 300
    # One account: from everywhere together.
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        places = [Browser(port, source=f"127.0.1.{n}") for n in range(12)]
        answers = list(pool.map(lambda one: one.sign_in("rsi-guessed", "x").status, places))
    assert sorted(answers) == [401] * 10 + [429] * 2
    assert Browser(port, source="127.0.1.77").sign_in("rsi-guessed", "secret-1").status == 429
    # Nobody else is kept out by it.
    assert Browser(port).sign_in("rsi-ann", PASSWORDS["ann"]).status == 200


@pytest.fixture
def service() -> Iterator[Callable[[str], None]]:
    """Writes the PAM service `roost`, with lines of the test's own before Debian's."""
    if SERVICE.exists():
        pytest.fail(f"{SERVICE} is this machine's own: the test would have to replace it")

    def write(lines: str) -> None:
        made = SERVICE.with_name(".roost-test")
        made.write_text(f"{lines}\n@include common-auth\n@include common-account\n")
        made.rename(SERVICE)

    yield write
    SERVICE.unlink(missing_ok=True)


def test_the_service_file_has_its_say(
    running: rig.Daemon, port: int, service: Callable[[str], None]
) -> None:
    service("account required pam_succeed_if.so quiet user != rsi-umlaut")
    barred = Browser(port, source="127.0.2.1").sign_in("rsi-umlaut", PASSWORDS["umlaut"])
    assert barred.status == 401
    assert Browser(port, source="127.0.2.2").sign_in("rsi-ann", PASSWORDS["ann"]).status == 200


def test_pam_that_hangs_is_ended_and_answers_nothing(
    people: dict[str, rig.Account], service: Callable[[str], None]
) -> None:
    service(
        "auth [success=1 default=ignore] pam_succeed_if.so quiet user != rsi-long\n"
        "auth required pam_exec.so /bin/sleep 61.25"
    )
    began = time.monotonic()
    answer = asked(Question(("rsi-long",), 0, PASSWORDS["long"]), within_s=2.0)
    assert answer.outcome == "unavailable"
    assert time.monotonic() - began < 6
    left = subprocess.run(["pgrep", "-fx", "/bin/sleep 61.25"], capture_output=True, text=True)
    assert left.stdout == ""
    assert asked(Question(("rsi-ann",), 0, PASSWORDS["ann"])).outcome == "accepted"
