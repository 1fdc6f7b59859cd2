"""The situations of docs/why.md, each made by hand: a heading in two languages, and the job that
waits. `python -m tests.core.scheduler.why_page en` prints the page's list anew.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime

from roost.cli.format import span
from roost.core.scheduler.decisions import Wait
from roost.core.text.forecast import forecast_sentence, render_unknown
from roost.core.text.wait import render_reason
from tests.core.scheduler.pictures import World

Made = tuple[World, int]


def clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M")


def morning(gpus: int, rules: str = "") -> World:
    """A server at nine o'clock."""
    world = World(gpus, rules)
    world.wait(f"{9 * 3600 - world.now:.0f}s")
    return world


def full() -> Made:
    world = morning(4)
    world.submit("li", 2, time="3h")
    world.submit("wang", 2, time="8h")
    return world, world.submit("alice", 2, time="1h")


def open_end() -> Made:
    world = morning(2)
    world.submit("li", 2)
    return world, world.submit("alice", 1, time="1h")


def habits() -> Made:
    """li's jobs need an eighth of what they ask for."""
    world = used_to_take("1h", 4, time="8h")
    world.submit("li", 4, time="8h")
    return world, world.submit("alice", 2, time="1h")


def open_habits() -> Made:
    world = used_to_take("1h30m", 2)
    world.submit("li", 2)
    return world, world.submit("alice", 1, time="1h")


def used_to_take(span_text: str, gpus: int, time: str | None = None) -> World:
    """A server at nine o'clock on which li's last two jobs took so long."""
    world = World(gpus)
    for _ in range(2):
        number = world.submit("li", gpus, time=time)
        world.wait(span_text)
        world.end(number)
    world.wait(f"{9 * 3600 - world.now:.0f}s")
    return world


def behind() -> Made:
    world = morning(4)
    world.submit("li", 2, time="3h")
    world.submit("wang", 4, time="8h")
    world.wait("1m")
    return world, world.submit("alice", 1, time="6h")


def limit() -> Made:
    world = morning(8, "[limits.per_user]\nmax_gpus = 2\n")
    world.submit("alice", 2, time="3h")
    return world, world.submit("alice", 1, time="1h")


def group_limit() -> Made:
    world = morning(8, "[groups.vision]\n[limits.groups.vision.regular]\nmax_gpus = 4\n")
    world.submit("li", 3, time="3h", group="vision")
    return world, world.submit("alice", 2, time="1h", group="vision")


def hour() -> Made:
    world = morning(
        8, "[periods]\nday = ['08:00-20:00']\n[limits.during.day.per_user]\nmax_gpus = 1\n"
    )
    world.submit("alice", 1, time="3h")
    return world, world.submit("alice", 1, time="1h")


def window() -> Made:
    text = "[windows.long]\njobs_over = '4h'\nopen = ['20:00-08:00']\n"
    world = morning(8, text)
    return world, world.submit("alice", 1, time="9h")


def minimum_run() -> Made:
    world = morning(1, '[classes.background]\nmin_run = "20m"\n')
    world.submit("li", 1, "background", time="9h")
    world.wait("5m")
    return world, world.submit("alice", 1, "urgent", time="1h")


def giving_way() -> Made:
    world = morning(1, '[classes.background]\nmin_run = "1m"\n')
    world.submit("li", 1, "background", time="9h")
    world.wait("5m")
    return world, world.submit("alice", 1, "urgent", time="1h")


def stranger() -> Made:
    world = morning(2)
    world.strangers(g0="20G", g1="9G")
    return world, world.submit("alice", 1, time="1h")


def drained() -> Made:
    world = morning(2)
    world.usable(0, False, "drained: new fan on Tuesday")
    world.submit("li", 1, time="2h")
    return world, world.submit("alice", 1, time="1h")


def after() -> Made:
    world = morning(4)
    first = world.submit("alice", 1, time="2h")
    return world, world.submit("alice", 1, time="1h", after=(first,))


def held() -> Made:
    world = morning(4)
    return world, world.submit("alice", 1, held=True)


def too_many() -> Made:
    world = morning(2)
    return world, world.submit("alice", 4, time="1h")


def share() -> Made:
    world = morning(1, "shared_gpus = [0]\n")
    world.submit("li", share="60G", time="2h")
    return world, world.submit("alice", share="30G", time="1h")


def compute() -> Made:
    world = morning(1, "shared_gpus = [0]\n")
    world.submit("li", share="10G", compute=50, time="2h")
    world.submit("wang", share="10G", compute=40, time="8h")
    return world, world.submit("alice", share="10G", compute=30, time="1h")


def when(language: str, wait: Wait, now: float) -> str:
    """The last line of `roost why`."""
    start_at, latest_at, unknown = (
        wait.forecast_start_at, wait.forecast_latest_at, wait.forecast_unknown,
    )  # fmt: skip
    return forecast_sentence(
        language,
        None if start_at is None else clock(start_at),
        "" if start_at is None else span(start_at - now),
        None if latest_at is None else clock(latest_at),
        None if unknown is None else render_unknown(language, unknown),
    )


SITUATIONS: list[tuple[str, str, Callable[[], Made]]] = [
    ("All GPUs are held", "所有 GPU 都被占用", full),
    ("All GPUs are held, and habits are known", "所有 GPU 都被占用，且已知习惯", habits),
    ("They are held by a job that says no walltime", "占用者没有给出时长", open_end),
    ("The same, but such jobs used to end soon", "同上，但此类作业以往很快结束", open_habits),
    ("A GPU is free, but kept for the first in line", "有空闲 GPU，但为队首作业保留", behind),
    ("The person holds as many as one may", "本人占用已达上限", limit),
    ("The group holds as many as it may", "本组占用已达上限", group_limit),
    ("A limit that holds at this hour", "此时段的限额", hour),
    ("A long job, by day", "白天提交的长作业", window),
    ("Urgent, and the other has only just begun", "紧急作业，而对方刚刚开始", minimum_run),
    ("Urgent, and the other is saving its work", "紧急作业，对方正在保存", giving_way),
    ("Somebody uses the GPUs by hand", "有人绕过队列直接使用 GPU", stranger),
    ("A GPU is out of use", "有 GPU 停用", drained),
    ("After another job", "等待另一个作业", after),
    ("Held back by a person", "被人暂缓", held),
    ("More GPUs than there are", "申请超过总数", too_many),
    ("A share of a GPU", "共享 GPU 的显存", share),
    ("A share of a GPU's compute", "共享 GPU 的算力", compute),
]


def page(language: str) -> str:
    """The list as the page holds it."""
    parts = []
    for english, chinese, make in SITUATIONS:
        world, number = make()
        wait = world.scheduler.forecast(number)
        lines = [f"- {render_reason(language, reason, clock)}" for reason in wait.reasons]
        lines.append(f"- {when(language, wait, world.now)}")
        parts.append(f"**{english if language == 'en' else chinese}**\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    print(page(sys.argv[1]))
