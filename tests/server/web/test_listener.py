"""The page's listener: how its connections behave, seen on a real one."""

from __future__ import annotations

import asyncio
import socket

from roost.core.web import WebSettings
from roost.server.web.listener import listen


def test_an_answer_in_two_pieces_does_not_wait_for_the_others_acknowledgement() -> None:
    async def accepted() -> int:
        seen: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def met(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            sock = writer.get_extra_info("socket")
            seen.set_result(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        bound = listen(WebSettings("127.0.0.1", 0))
        (one,) = bound.sockets
        async with await asyncio.start_server(met, sock=one):
            _, writer = await asyncio.open_connection(*one.getsockname())
            value = await asyncio.wait_for(seen, 10)
            writer.close()
        return value

    assert asyncio.run(accepted())
