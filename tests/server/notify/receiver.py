"""A real HTTP or HTTPS receiver on loopback that keeps what it was asked, and answers as told."""

from __future__ import annotations

import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Receiver:
    """`answer`: status, headers, body. `drip_s`: so long between the bytes of the answer."""

    def __init__(self) -> None:
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.answer: tuple[int, dict[str, str], bytes] = (200, {}, b"{}")
        self.drip_s = 0.0
        self.port = 0
        self.silent = False


@contextmanager
def receiver(certificate: Path | None = None, port: int = 0) -> Iterator[Receiver]:
    box = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            box.got.append((self.path, dict(self.headers.items()), body))
            if box.silent:
                time.sleep(30.0)
                return
            status, headers, raw = box.answer
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            for at in range(len(raw)):
                if box.drip_s:
                    time.sleep(box.drip_s)
                self.wfile.write(raw[at : at + 1])

        def log_message(self, *_: Any) -> None:
            """Nothing to standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    if certificate is not None:
        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trust.load_cert_chain(certificate)
        server.socket = trust.wrap_socket(server.socket, server_side=True)
    box.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield box
    finally:
        server.shutdown()
        server.server_close()


def certificate(folder: Path, *names: str) -> Path:
    """A certificate of its own for those names, with its key, in one file."""
    path, key = folder / "cert.pem", folder / "key.pem"
    alt = ",".join(f"DNS:{name}" for name in names)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=test", "-addext", f"subjectAltName={alt}",
         "-keyout", str(key), "-out", str(path)],
        check=True, capture_output=True,
    )  # fmt: skip
    path.write_text(path.read_text() + key.read_text())
    return path
