"""How uvicorn serves here, the same at both doors: the machine's socket and the page's address.

Knows no routes and no people; each door brings its own protocol, with its own limits.
"""

from __future__ import annotations

from typing import Any

import uvicorn

from roost.server.web.patience import PatientProtocol

LONGEST_STOP_S = 3


def config_of(
    app: Any, protocol: type[PatientProtocol], backlog: int, keep_alive_s: int
) -> uvicorn.Config:
    """No server's name in answers, no proxy believed unasked, no log of its own, no WebSocket."""
    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=backlog,
        timeout_keep_alive=keep_alive_s,
        timeout_graceful_shutdown=LONGEST_STOP_S,
    )
