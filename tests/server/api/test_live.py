"""Waiting for news: a few at a time, spread over a second, at most once a second, all of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise

from roost.server.api.live import AT_ONCE, GOLDEN, TOPICS, Live


async def _next(topics: AsyncIterator[tuple[str, ...]]) -> tuple[str, ...]:
    return await asyncio.wait_for(anext(topics), 5.0)


def test_the_first_time_all_topics_then_those_that_changed() -> None:
    async def run() -> None:
        live = Live(asyncio.get_running_loop())
        topics = live.topics(0.01)
        assert await _next(topics) == TOPICS
        live.changed(frozenset({"jobs"}), ())
        assert await _next(topics) == ("jobs",)
        live.changed(frozenset({"who"}), ())
        live.changed(frozenset({"status"}), ())
        live.changed(frozenset({"who"}), ())
        assert await _next(topics) == ("status", "who")

    asyncio.run(run())


def test_hundreds_that_wait_for_news_go_on_a_few_in_each_turn_and_all_of_them() -> None:
    async def run() -> tuple[int, int]:
        loop = asyncio.get_running_loop()
        live = Live(loop)
        told: list[int] = []
        turns: list[int] = []

        async def watch(number: int) -> None:
            topics = live.topics(0.0)
            await anext(topics)
            await anext(topics)
            told.append(number)

        tasks = [loop.create_task(watch(number)) for number in range(300)]
        await asyncio.sleep(0.1)
        live.changed(frozenset({"status"}), ())
        while not all(task.done() for task in tasks):
            before = len(told)
            await asyncio.sleep(0)
            turns.append(len(told) - before)
        return len(told), max(turns)

    told, most = asyncio.run(run())
    assert told == 300
    assert most <= AT_ONCE


def test_moments_are_spread_evenly_however_many_begin_at_once() -> None:
    for count in (10, 50, 200):
        moments = sorted((n + 1) * GOLDEN % 1.0 for n in range(count))
        gaps = [b - a for a, b in pairwise(moments)]
        assert max(gaps) < 3.0 / count


def test_closing_ends_every_stream_at_once_also_those_that_rest() -> None:
    async def run() -> None:
        live = Live(asyncio.get_running_loop())

        async def watch() -> int:
            return sum([1 async for _ in live.topics(60.0)])

        tasks = [asyncio.create_task(watch()) for _ in range(50)]
        await asyncio.sleep(0.05)
        live.close()
        assert await asyncio.wait_for(asyncio.gather(*tasks), 2.0) == [1] * 50
        assert await asyncio.wait_for(watch(), 2.0) == 0

    asyncio.run(run())


def test_who_leaves_is_forgotten() -> None:
    async def run() -> None:
        live = Live(asyncio.get_running_loop())

        async def watch() -> None:
            async for _ in live.topics(0.0):
                pass

        tasks = [asyncio.create_task(watch()) for _ in range(20)]
        await asyncio.sleep(0.05)
        assert len(live._watching) == 20
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert not live._watching
        assert not live._resting

    asyncio.run(run())
