"""The listener as it stands on a network: TLS, proxies, a prefix, foreign hosts, slow and greedy
callers; and sessions that end with their accounts."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.real import rig
from tests.real.web_rig import CUT_OFF, Browser, free_port, set_password

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: accounts, passwords, PAM")


@pytest.fixture(scope="module")
def people() -> Iterator[list[rig.Account]]:
    with rig.accounts("ann", "locked", "expired", "removed", prefix="rwb-") as made:
        for one in made:
            set_password(one.name, "secret-1")
        yield made


@pytest.fixture(scope="module")
def plain(people: list[rig.Account]) -> Iterator[Browser]:
    port = free_port()
    with rig.daemon(
        "--simulate", "2xA100", "--http", f"127.0.0.1:{port}", "--http-prefix", "/roost",
        "--trusted-proxy", "127.0.0.7", "--http-name", "gpus.example.org",
    ):  # fmt: skip
        yield Browser(port, prefix="/roost")


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A self-signed certificate for `name`, readable by the server's account."""
    cert, key = folder / f"{name}.crt", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
         "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    cert.chmod(0o644)
    key.chmod(0o644)
    return cert, key


def test_plain_http_is_refused_elsewhere_than_on_loopback(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "[::]", "10.1.2.3", "gpu1.example.org"):
        done = subprocess.run(
            [rig.readable_python(), "-m", "roost", "serve", "--state", str(tmp_path),
             "--simulate", "1xA100", "--http", f"{host}:8080"],
            capture_output=True, text=True, timeout=30, env={**os.environ, "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
        assert done.returncode == 2
        assert "refused without TLS" in done.stderr
        assert "--tls-cert" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_under_a_prefix_and_by_the_right_hosts_alone(plain: Browser) -> None:
    assert plain.ask("GET", "/v1/ping").json == {"signed_in": False, "sign_in": ["password"]}
    for path in ("/v1/ping", "/roostx/v1/ping", "/", "/roost"):
        answer = Browser(plain.port).ask("GET", path)
        if path in ("/", "/roost"):
            assert (answer.status, answer.headers["location"]) == (308, "/roost/")
        else:
            assert answer.status == 404, path
    for host in ("localhost", f"127.0.0.1:{plain.port}", "[::1]", "gpus.example.org:443",
                 socket.gethostname(), "GPUS.example.org."):  # fmt: skip
        assert plain.ask("GET", "/v1/ping", headers={"Host": host}).status == 200, host
    for host in ("evil.example", "gpus.example.org.evil.example", "", "a b", "[::1", "x" * 300):
        answer = plain.ask("GET", "/v1/ping", headers={"Host": host})
        assert answer.status in (400, 421), host


def test_a_proxy_is_believed_where_it_was_named_and_nobody_else(plain: Browser) -> None:
    forwarded = {
        "X-Forwarded-For": "203.0.113.9, 198.51.100.77", "X-Forwarded-Proto": "https",
        "Host": "gpus.example.org",
    }  # fmt: skip
    proxy = Browser(plain.port, source="127.0.0.7", prefix="/roost")
    through = proxy.sign_in("rwb-ann", "secret-1", **forwarded)
    assert through.status == 200, through.text
    assert "Secure" in through.cookies[0]
    assert "Path=/roost/" in through.cookies[0]
    mine = proxy.ask("GET", "/v1/sessions", headers=forwarded).json["sessions"]
    assert mine[0]["address"] == "198.51.100.77"
    # The proxy may also cut the prefix off.
    bare = Browser(plain.port, source="127.0.0.7", cookie=proxy.cookie)
    assert bare.ask("GET", "/v1/session", headers=forwarded).status == 200
    # Somebody else of this machine says the same, and is believed nothing.
    direct = Browser(plain.port, prefix="/roost")
    answer = direct.sign_in("rwb-ann", "secret-1", **forwarded)
    assert "Secure" not in answer.cookies[0]
    mine = direct.ask("GET", "/v1/sessions").json["sessions"]
    assert next(one for one in mine if one["this"])["address"] == "127.0.0.1"


def test_every_answer_tells_browsers_to_be_careful(plain: Browser) -> None:
    plain.sign_in("rwb-ann", "secret-1")
    for path in ("/v1/ping", "/v1/status", "/v1/nothing", "/", "/jobs/42", "/assets/none.js"):
        for browser in (plain, Browser(plain.port, prefix="/roost")):
            headers = browser.ask("GET", path).headers
            assert headers["x-content-type-options"] == "nosniff", path
            assert headers["x-frame-options"] == "DENY"
            assert headers["referrer-policy"] == "same-origin"
            assert "server" not in headers
            if path.startswith("/v1"):
                assert "default-src 'none'" in headers["content-security-policy"]
                assert headers["cache-control"] == "no-store"


def first_bytes(port: int, data: bytes, timeout_s: float) -> tuple[bytes, float]:
    """What comes back, and after how long the connection was over."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=timeout_s) as connection:
        got = b""
        with suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(data)
            while piece := connection.recv(65536):
                got += piece
        return got, time.monotonic() - began


def test_who_dawdles_is_cut_off_and_nobody_else_waits(plain: Browser) -> None:
    _, took = first_bytes(plain.port, b"GET /roost/v1/ping HTTP/1.1\r\nHost: local", 30)
    assert 10 < took < 20
    _, took = first_bytes(plain.port, b"", 30)
    assert 10 < took < 20


def test_what_is_too_large_is_cut_off(plain: Browser) -> None:
    head = b"GET /roost/v1/ping HTTP/1.1\r\nHost: localhost\r\n"
    got, took = first_bytes(plain.port, head + b"X-A: " + b"a" * 200_000, 30)
    assert (got, took < 5) == (b"", True)
    big = b'{"user": "rwb-ann", "password": "' + b"a" * 100_000 + b'"}'
    answer = plain.ask("POST", "/v1/session", big)
    assert (answer.status, answer.json["type"]) == (413, "/problems/body_too_large")
    stranger = Browser(plain.port, prefix="/roost")
    assert stranger.ask("POST", "/v1/jobs", b"{" * 1_000_000).status in (401, CUT_OFF)


def test_smuggled_and_doubled_headers_get_nobody_in(plain: Browser) -> None:
    plain.sign_in("rwb-ann", "secret-1")
    cookie = f"Cookie: roost_session={plain.cookie}\r\n".encode()
    start = b"POST /roost/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
    for wrong in (
        start + cookie + b"X-Roost-CSRF: a\r\nX-Roost-CSRF: " + plain.csrf.encode() + b"\r\n",
        start + b"Host: localhost\r\n" + cookie,
        start + b"Transfer-Encoding: chunked\r\n" + cookie,
        start + b"Authorization: Basic cm9vdDpyb290\r\n" + cookie,
        start + b"Authorization: Bearer roost_x\r\n" + cookie,
    ):
        got, _ = first_bytes(plain.port, wrong + b"Connection: close\r\n\r\n", 10)
        assert got.split(b" ", 2)[1] in (b"400", b"401", b"403", b"421"), (wrong, got[:200])


def test_tls_serves_hides_plain_http_and_takes_up_a_new_certificate(
    people: list[rig.Account], tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    folder = Path("/tmp") / f"rwb-tls-{os.getpid()}"
    folder.mkdir(mode=0o755)
    port = free_port()
    try:
        cert, key = certificate(folder, "gpu1.test")
        with rig.daemon(
            "--simulate", "1xA100", "--http", f"0.0.0.0:{port}",
            "--tls-cert", str(cert), "--tls-key", str(key), "--http-name", "gpu1.test",
        ):  # fmt: skip
            trusting = ssl.create_default_context(cafile=str(cert))
            trusting.check_hostname = False
            browser = Browser(port, tls=trusting)
            answer = browser.sign_in("rwb-ann", "secret-1", Host="gpu1.test")
            assert answer.status == 200, answer.text
            assert "Secure" in answer.cookies[0]
            got, _ = first_bytes(port, b"GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n\r\n", 10)
            assert b"200" not in got
            new_cert, new_key = certificate(folder, "gpu2.test")
            os.replace(new_key, key)
            os.replace(new_cert, cert)

            def renewed() -> bool:
                found = ssl.get_server_certificate(("127.0.0.1", port))
                return found.strip() == cert.read_text().strip()

            rig.wait_for(renewed, "the new certificate is served", 15)
    finally:
        subprocess.run(["rm", "-r", str(folder)], check=True)


def test_a_certificate_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    cert, _ = certificate(tmp_path, "one.test")
    _, other = certificate(tmp_path, "two.test")
    state = Path("/tmp") / f"rwb-cert-{os.getpid()}"
    state.mkdir(mode=0o755)
    try:
        done = subprocess.run(
            [rig.readable_python(), "-m", "roost", "server", "--state", str(state), "--socket",
             str(state / "roost.sock"), "--http", "0.0.0.0:1", "--tls-cert", str(cert),
             "--tls-key", str(other)],
            capture_output=True, text=True, timeout=30, env={**os.environ, "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
        assert done.returncode == 1
        assert "the certificate cannot be used" in done.stderr
        assert str(other) in done.stderr
    finally:
        subprocess.run(["rm", "-r", str(state)], check=True)


def test_sessions_streams_and_tokens_end_with_their_account(people: list[rig.Account]) -> None:
    port = free_port()
    names = ["rwb-ann", "rwb-locked", "rwb-expired", "rwb-removed"]
    with rig.daemon("--simulate", "1xA100", "--http", f"127.0.0.1:{port}") as running:
        inside = {name: Browser(port) for name in names}
        tokens = {}
        for name, browser in inside.items():
            assert browser.sign_in(name, "secret-1").status == 200
            secret = running.cli(name, "token", "create").stdout.strip()
            tokens[name] = Browser(port, headers={"Authorization": f"Bearer {secret}"})
        stream = socket.create_connection(("127.0.0.1", port), timeout=60)
        cookie = inside["rwb-locked"].cookie
        stream.sendall(
            b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            b"Cookie: roost_session=" + cookie.encode() + b"\r\n\r\n"
        )  # fmt: skip
        assert stream.recv(12) == b"HTTP/1.1 200"
        subprocess.run(["passwd", "-l", "rwb-locked"], check=True, capture_output=True)
        subprocess.run(["chage", "-E", "1", "rwb-expired"], check=True, capture_output=True)
        subprocess.run(["userdel", "rwb-removed"], check=True, capture_output=True)

        def out() -> bool:
            return all(
                one.ask("GET", "/v1/status").status == 401
                for name in names[1:]
                for one in (inside[name], tokens[name])
            )

        rig.wait_for(out, "those accounts are signed out", 75, every_s=1.0)
        assert inside["rwb-ann"].ask("GET", "/v1/status").status == 200
        assert tokens["rwb-ann"].ask("GET", "/v1/status").status == 200
        with stream, suppress(ConnectionResetError):
            while stream.recv(65536):
                pass  # the stream ends, where it would go on for ever
        told = running.json("root", "audit", "log")["audit"]
        ended = {line["whom"] for line in told if line["action"] == "session ended"}
        assert ended >= set(names[1:])
