"""A small HTTP server on a Unix socket with answers in the shapes of docs/api.md.

It stands in where a test is about words and pictures; tests/real has the daemon itself.
"""

from __future__ import annotations

import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any

Answer = tuple[int, Any]


class Stub:
    """`answers` maps "METHOD /path" (no query) to (status, JSON); `seen` keeps the requests."""

    def __init__(self, path: str, answers: dict[str, Answer]) -> None:
        self.path = path
        self.answers = answers
        self.seen: list[tuple[str, str, Any, dict[str, str]]] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                headers = {name.lower(): value for name, value in self.headers.items()}
                stub.seen.append((self.command, self.path, body, headers))
                key = f"{self.command} {self.path.partition('?')[0]}"
                status, value = stub.answers.get(
                    key, (404, {"type": "/problems/not_found", "detail": f"nothing at {key}"})
                )
                if callable(value):
                    value = value()
                data = json.dumps(value).encode()
                self.send_response(status)
                kind = "application/json" if status < 400 else "application/problem+json"
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815

            def address_string(self) -> str:
                return "unix"

            def log_message(self, *_: object) -> None:
                pass

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True
            request_queue_size = 64

        self.server = Server(path, Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


STATUS: dict[str, Any] = {
    "server": "gpu1",
    "driver_version": "550.54.15",
    "driver_state": "ok",
    "driver_remedy": None,
    "simulated": False,
    "time": "2026-12-02T17:02:00+01:00",
    "queue": {"pending": 2, "running": 3},
    "gpus": [
        {
            "index": 0,
            "uuid": "GPU-0",
            "name": "NVIDIA A100-SXM4-80GB",
            "memory_total_bytes": 85899345920,
            "memory_used_bytes": 75269931008,
            "utilisation_percent": 98,
            "temperature_c": 62,
            "power_w": 310.4,
            "health": "ok",
            "holders": [
                {
                    "kind": "job",
                    "user": "alice",
                    "job": 42,
                    "memory_bytes": 75161927680,
                    "since": "2026-12-02T14:02:00+01:00",
                    "until": "2026-12-02T17:40:00+01:00",
                    "idle_s": 0,
                },
                {
                    "kind": "job",
                    "user": "alice",
                    "job": 42,
                    "memory_bytes": 1000000,
                    "since": "2026-12-02T14:02:00+01:00",
                    "until": "2026-12-02T17:40:00+01:00",
                },
            ],
        },
        {
            "index": 1,
            "uuid": "GPU-1",
            "name": "NVIDIA A100-SXM4-80GB",
            "memory_total_bytes": 85899345920,
            "memory_used_bytes": 0,
            "utilisation_percent": 0,
            "temperature_c": 35,
            "power_w": 57.0,
            "health": "ok",
            "holders": [],
        },
        {
            "index": 2,
            "uuid": "GPU-2",
            "name": "NVIDIA A100-SXM4-80GB",
            "memory_total_bytes": 85899345920,
            "memory_used_bytes": 2254857830,
            "utilisation_percent": None,
            "temperature_c": None,
            "power_w": None,
            "health": "ok",
            "holders": [
                {
                    "kind": "session",
                    "user": "王伟",
                    "command": "/usr/bin/python3 train.py",
                    "memory_bytes": 1581252608,
                    "since": "2026-12-02T15:01:00+01:00",
                    "idle_s": 5400,
                },
                {
                    "kind": "unattributed",
                    "user": None,
                    "memory_bytes": 673185792,
                    "reason": "its main thread has exited",
                },
            ],
        },
        {
            "index": 3,
            "uuid": "GPU-3",
            "name": "NVIDIA A100-SXM4-80GB",
            "memory_total_bytes": None,
            "memory_used_bytes": None,
            "utilisation_percent": None,
            "temperature_c": None,
            "power_w": None,
            "health": "lost",
            "holders": [],
        },
    ],
}

WHO: dict[str, Any] = {
    "holders": [
        {
            "gpu_index": 0,
            "gpu_uuid": "GPU-0",
            "pid": 4242,
            "user": "alice",
            "group": "cv",
            "kind": "job",
            "container": None,
            "job": 42,
            "booking": None,
            "memory_bytes": 75161927680,
            "command": "python train.py --lr 0.1",
            "since": "2026-12-02T14:02:00+01:00",
            "idle_s": 0.0,
            "right": "job",
            "reason": None,
        },
        {
            "gpu_index": 2,
            "gpu_uuid": "GPU-2",
            "pid": 991,
            "user": "bob",
            "group": "nlp",
            "kind": "container",
            "container": "web-1",
            "job": None,
            "booking": None,
            "memory_bytes": 1581252608,
            "command": "python3 serve.py",
            "since": "2026-12-02T09:01:00+01:00",
            "idle_s": 5400.0,
            "right": None,
            "reason": None,
        },
        {
            "gpu_index": 2,
            "gpu_uuid": "GPU-2",
            "pid": None,
            "user": None,
            "group": None,
            "kind": "unattributed",
            "container": None,
            "job": None,
            "booking": None,
            "memory_bytes": 673185792,
            "command": None,
            "since": None,
            "idle_s": None,
            "right": None,
            "reason": "its main thread has exited",
        },
    ],
    "unattributed": [],
    "checks": [],
    "time": "2026-12-02T17:02:00+01:00",
}


def job(number: int, state: str, **fields: Any) -> dict[str, Any]:
    """A job as the API tells it."""
    return {
        "job": number,
        "name": "train.py",
        "user": "alice",
        "group": "cv",
        "class": "regular",
        "state": state,
        "gpus": [],
        "request": {"gpus": 2, "gpu_memory_bytes": None, "cpus": 4, "walltime_s": 14400},
        "submit_time": "2026-12-02T14:00:00+01:00",
        "start_time": None,
        "end_time": None,
        "exit_code": None,
        "signal": None,
        "text": "",
        "restarts": 0,
        "held": False,
        "pty": False,
        "directory": "/home/alice",
        "output": None,
        "command": ["python", "train.py"],
        "source": None,
        "wait": None,
        **fields,
    }


RULES: dict[str, Any] = {
    "version": 3, "time": None, "user": "", "text": "", "rules": {}, "problem": None,
    "mistakes": [],
}  # fmt: skip


def past(number: int, submit: int = 0, start: int = 0, end: int = 60, **fields: Any
         ) -> dict[str, Any]:  # fmt: skip
    """A job as `GET /v1/history` tells it; times in minutes after ten o'clock."""

    def at(minutes: int) -> str:
        return f"2026-12-01T{10 + minutes // 60:02}:{minutes % 60:02}:00.000+01:00"

    return {
        "job": number,
        "user": "alice",
        "group": "default",
        "class": "regular",
        "state": "COMPLETED",
        "request": {"gpus": 1, "gpu_memory_bytes": None, "gpu_model": None, "cpus": 0,
                    "memory_bytes": None, "walltime_s": None},
        "submit_time": at(submit),
        "begin_time": None,
        "end_time": at(end),
        "after": [],
        "array_id": None,
        "array_limit": None,
        "requeue": True,
        "granted": [{"gpu_uuid": "GPU-0", "memory_bytes": None}],
        "attempts": [{"start_time": at(start), "end_time": at(end), "end_reason": "exited"}],
        **fields,
    }  # fmt: skip


def history(*rows: dict[str, Any], gpus: int = 2) -> dict[str, Any]:
    """The only page of a history, of that day."""
    return {
        "history": list(rows),
        "next": None,
        "from": "2026-12-01T00:00:00.000+01:00",
        "to": "2026-12-02T00:00:00.000+01:00",
        "people": {row["user"]: [] for row in rows},
        "usage": [],
        "gpus": [{"uuid": f"GPU-{n}", "index": n, "model": "A100", "memory_bytes": 80 << 30,
                  "numa_node": None, "links": [], "parent": None} for n in range(gpus)],
        "cpus": 64,
        "memory_bytes": 1 << 40,
    }  # fmt: skip
