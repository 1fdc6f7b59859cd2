"""Connections over real sockets: who does not read is let go, who reads slowly is waited for; and
whom a connection counts for."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from roost.server.web import patience, protocol
from roost.server.web.patience import PatientProtocol
from roost.server.web.protocol import CONNECTION, WebProtocol

TCP_CLOSE = 7
MANY = 6 * 1024 * 1024
ASK = b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n"


async def app(scope: Any, receive: Any, send: Any) -> None:
    """`/many` is a long answer; `/N` one for the account N, `/N/stay` without an end; else a
    stranger's."""
    parts = scope["path"].strip("/").split("/")
    allowed = not parts[0].isdigit() or scope[CONNECTION].belongs_to(int(parts[0]))
    status, body = (200, b"x" * MANY if parts[0] == "many" else b"") if allowed else (429, b"")
    length = (b"content-length", str(len(body)).encode())
    headers = [] if parts[-1] == "stay" else [length]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    if parts[-1] == "stay":
        await receive()
        await receive()
        return
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def served(kind: type[PatientProtocol]) -> AsyncIterator[tuple[int, list[Any]]]:
    config = uvicorn.Config(app, http=kind, ws="none", lifespan="off", log_config=None)
    config.load()
    state, made = ServerState(), []

    def make() -> PatientProtocol:
        made.append(kind(config=config, server_state=state, app_state={}))
        return made[-1]

    loop = asyncio.get_running_loop()
    server = await loop.create_server(make, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], made
    finally:
        server.close()
        for one in state.connections.copy():
            one.transport.abort()
        await asyncio.sleep(0.01)


async def connected(port: int, ask: bytes) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 * 1024)
    made.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(made, ("127.0.0.1", port))
    await loop.sock_sendall(made, ASK % ask)
    return made


async def begun(sock: socket.socket) -> bytes:
    """The status of the answer; b"" where there is none but the end of the connection."""
    try:
        return (await asyncio.wait_for(asyncio.get_running_loop().sock_recv(sock, 512), 5))[9:12]
    except ConnectionResetError:
        return b""


def test_who_never_reads_is_let_go_and_what_waited_for_him_with_him(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patience, "STALL_S", 0.2)

    async def run() -> None:
        async with served(PatientProtocol) as (port, made):
            never = await connected(port, b"many")
            for _ in range(100):
                await asyncio.sleep(0.05)
                if made and made[0].transport.is_closing():
                    break
            assert made[0].transport.is_closing()
            await asyncio.sleep(0.01)
            assert made[0].transport.get_write_buffer_size() == 0
            state = never.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
            assert state == TCP_CLOSE, "the kernel keeps nothing for him either"
            never.close()

    asyncio.run(run())


def test_who_reads_slowly_gets_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "STALL_S", 0.2)

    async def run() -> None:
        async with served(PatientProtocol) as (port, _):
            loop = asyncio.get_running_loop()
            slow, got, began = await connected(port, b"many"), 0, loop.time()
            while got < MANY and (piece := await loop.sock_recv(slow, 128 * 1024)):
                got += len(piece)
                await asyncio.sleep(0.01)
            assert got >= MANY
            assert loop.time() - began > 2 * patience.STALL_S
            slow.close()

    asyncio.run(run())


class _Elsewhere:
    is_loopback = False


def test_who_is_signed_in_counts_for_his_account_not_for_his_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protocol, "literal", lambda _: _Elsewhere())
    monkeypatch.setattr(protocol, "MOST_OF_ONE", 4)
    monkeypatch.setattr(protocol, "MOST_OF_ACCOUNT", 5)

    async def run() -> None:
        async with served(WebProtocol) as (port, _):
            kept = []
            for uid in (b"1001", b"1002", b"1003"):
                for _ in range(5):
                    kept.append(await connected(port, uid))
                    assert await begun(kept[-1]) == b"200", (uid, len(kept))
            refused = await connected(port, b"1001")
            assert await begun(refused) == b"429"
            kept.append(await connected(port, b"1004"))
            assert await begun(kept[-1]) == b"200"
            assert protocol._connections["127.0.0.1"] == 1, "the refused one counts where it was"
            for one in (*kept[:5], refused):
                one.close()
            await asyncio.sleep(0.05)
            again = await connected(port, b"1001")
            assert await begun(again) == b"200"
        assert not protocol._connections

    asyncio.run(run())


def test_strangers_of_one_address_are_so_many_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "literal", lambda _: _Elsewhere())
    monkeypatch.setattr(protocol, "MOST_OF_ONE", 3)

    async def run() -> None:
        async with served(WebProtocol) as (port, _):
            kept = [await connected(port, b"hello") for _ in range(3)]
            assert [await begun(one) for one in kept] == [b"200"] * 3
            assert await begun(await connected(port, b"hello")) == b""
            for one in kept:
                one.close()

    asyncio.run(run())


def test_a_proxys_connection_is_an_accounts_for_one_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protocol, "MOST_OF_ACCOUNT", 2)

    async def run() -> None:
        async with served(WebProtocol) as (port, _):
            done = []
            for _ in range(6):
                done.append(await connected(port, b"1001"))
                assert await begun(done[-1]) == b"200"
            for _ in range(2):
                done.append(await connected(port, b"1001/stay"))
                assert await begun(done[-1]) == b"200"
            assert await begun(await connected(port, b"1001")) == b"429"
            assert await begun(await connected(port, b"1002")) == b"200"
            done[-1].close()
            await asyncio.sleep(0.05)
            assert await begun(await connected(port, b"1001")) == b"200"

    asyncio.run(run())


def test_who_waits_longest_makes_room_and_who_is_answered_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protocol, "MOST", 4)

    async def run() -> None:
        async with served(WebProtocol) as (port, _):
            answered = await connected(port, b"1001/stay")
            assert await begun(answered) == b"200"
            idle = await connected(port, b"hello")
            assert await begun(idle) == b"200"
            loop, halves = asyncio.get_running_loop(), []
            for _ in range(6):  # two beyond the limit with the two above, then two more
                half = socket.socket()
                half.setblocking(False)
                await loop.sock_connect(half, ("127.0.0.1", port))
                await loop.sock_sendall(half, b"GET / HT")
                halves.append(half)
                await asyncio.sleep(0.02)
            assert await begun(idle) == b""
            assert [await begun(one) for one in halves[:3]] == [b""] * 3
            mine = await connected(port, b"1002")
            assert await begun(mine) == b"200"
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(loop.sock_recv(answered, 1), 0.1)
            assert len(protocol._asking) <= protocol.MOST
            for one in (answered, mine, *halves):
                one.close()
        assert not protocol._connections
        assert not protocol._asking

    asyncio.run(run())
