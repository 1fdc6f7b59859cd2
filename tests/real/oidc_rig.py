"""A provider that lies as a test tells it to: real HTTP, real signatures, in a process of its own.

`python -m tests.real.oidc_rig PORT LIE` serves it. What is a lie and what must follow from it,
the tests say.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

ROOT = Path(__file__).resolve().parents[2]
CLIENT = "roost-test"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def lying(user: str, lie: str = "") -> Iterator[str]:
    """The issuer's address; `user` is the preferred_username of whoever comes."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.real.oidc_rig", str(port), lie, json.dumps(user)], cwd=ROOT
    )
    try:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


class Provider(BaseHTTPRequestHandler):
    port, lie, user = 0, "", ""
    key = RSAKey.generate_key(2048, {"kid": "one"})
    other = RSAKey.generate_key(2048, {"kid": "one"})
    codes: dict[str, dict[str, str]] = {}  # noqa: RUF012 - one process, one provider

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def _send(self, status: int, value: Any, **headers: str) -> None:
        raw = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def do_GET(self) -> None:
        own, parts = f"http://127.0.0.1:{self.port}", urlsplit(self.path)
        if parts.path == "/.well-known/openid-configuration":
            issuer = "https://elsewhere.example" if self.lie == "issuer" else own
            token = f"{own}/token"
            if self.lie == "leads_away":
                token = "http://127.0.0.1:22/token"
            if self.lie == "redirect":
                self._send(302, b"", Location="http://169.254.169.254/")
                return
            if self.lie == "endless":
                self.send_response(200)
                self.end_headers()
                while True:
                    self.wfile.write(b" " * 65536)
            if self.lie == "silent":
                time.sleep(30)
            self._send(
                200,
                {
                    "issuer": issuer,
                    "authorization_endpoint": f"{own}/authorize",
                    "token_endpoint": token,
                    "jwks_uri": f"{own}/jwks",
                },
            )
        elif parts.path == "/jwks":
            shown = OctKey.generate_key(256) if self.lie == "secret_key" else self.key
            self._send(200, {"keys": [shown.as_dict(private=self.lie == "secret_key")]})
        elif parts.path == "/authorize":
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            code = secrets.token_urlsafe(16)
            self.codes[code] = asked
            back = {"code": code, "state": asked["state"]}
            if self.lie == "iss":
                back["iss"] = "https://elsewhere.example"
            if self.lie == "denied":
                back = {"error": "access_denied", "state": asked["state"]}
            self._send(303, b"", Location=f"{asked['redirect_uri']}?{urlencode(back)}")
        else:
            self._send(404, {})

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        asked = self.codes.pop(form["code"][0], None)
        if asked is None or form["redirect_uri"][0] != asked["redirect_uri"]:
            self._send(400, {"error": "invalid_grant"})
            return
        made = hashlib.sha256(form["code_verifier"][0].encode()).digest()
        if base64.urlsafe_b64encode(made).rstrip(b"=").decode() != asked["code_challenge"]:
            self._send(400, {"error": "invalid_grant"})
            return
        self._send(
            200, {"token_type": "Bearer", "access_token": "x", "id_token": self._token(asked)}
        )

    def _token(self, asked: dict[str, str]) -> str:
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": f"http://127.0.0.1:{self.port}", "sub": "1", "aud": CLIENT,
            "exp": now + 300, "iat": now, "nonce": asked["nonce"], "preferred_username": self.user,
        }  # fmt: skip
        lies: dict[str, dict[str, Any]] = {
            "nonce": {"nonce": "another"},
            "no_nonce": {"nonce": None},
            "aud": {"aud": "another"},
            "two_aud": {"aud": [CLIENT, "another"]},
            "azp": {"azp": "another"},
            "iss_claim": {"iss": "https://elsewhere.example"},
            "expired": {"exp": now - 120},
            "old": {"iat": now - 3600},
            "endless_exp": {"exp": 1e400},
            "text_exp": {"exp": str(now + 300)},
            "no_sub": {"sub": ""},
            "list_name": {"preferred_username": [self.user]},
        }
        claims |= lies.get(self.lie, {})
        header = {"alg": "RS256", "kid": "one"}
        if self.lie == "none":
            parts = [{"alg": "none"}, claims]
            coded = [base64.urlsafe_b64encode(json.dumps(p).encode()).rstrip(b"=") for p in parts]
            return b".".join([*coded, b""]).decode()
        if self.lie == "hs":
            secret = OctKey.import_key(self.key.as_pem(private=False).replace(b"-----", b""))
            return jwt.encode({"alg": "HS256", "kid": "one"}, claims, secret)
        if self.lie == "other_key":
            return jwt.encode(header, claims, self.other)
        if self.lie == "unknown_key":
            return jwt.encode({"alg": "RS256", "kid": "two"}, claims, self.other)
        if self.lie == "garbage":
            return "a.b.c.d"
        return jwt.encode(header, claims, self.key)


if __name__ == "__main__":
    Provider.port, Provider.lie = int(sys.argv[1]), sys.argv[2]
    Provider.user = json.loads(sys.argv[3])
    ThreadingHTTPServer(("127.0.0.1", Provider.port), Provider).serve_forever()
