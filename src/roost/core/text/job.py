"""What is said about a job's course and end where its own text says nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from roost.core.rules.units import format_duration
from roost.core.text.catalogue import say

MESSAGES = {
    "record_lost": (
        "the agent has no record of this attempt any more: its end is not known",
        "agent 已没有这次运行的记录，无法得知其结束情况",
    ),
    "stray_warned": (
        "it uses GPU {gpu}, which it was not given: use CUDA_VISIBLE_DEVICES as Roost sets it",
        "该作业使用了未分配给它的 GPU {gpu}：请使用 Roost 设置的 CUDA_VISIBLE_DEVICES",
    ),
    "stray_stopped": (
        "stopped because it used GPU {gpu}, which it was not given (rules: stray_gpu_use)",
        "因使用未分配的 GPU {gpu} 而被停止（规则：stray_gpu_use）",
    ),
    "idle": (
        "its GPUs have done nothing for {idle}: it is stopped at {stop_at} unless they are used"
        " (rules: {rule})",
        "它的 GPU 已空转 {idle}：若仍不使用，将于 {stop_at} 被停止（规则：{rule}）",
    ),
    "idle_part": (
        "of its {count} GPUs these do nothing: {gpus}; ask for fewer next time (rules: {rule})",
        "它的 {count} 张 GPU 中，以下 GPU 一直空转：{gpus}；下次请少申请（规则：{rule}）",
    ),
    "idle_over": ("its GPUs are used again", "它的 GPU 已重新被使用"),
    "idle_stopped": (
        "stopped because its GPUs did nothing for too long (rules: {rule})",
        "因 GPU 长时间空转而被停止（规则：{rule}）",
    ),
    "closing": (
        "the window that it started in closes at {close_at}; it may run on (rules: {rule})",
        "它所在的时段将于 {close_at} 结束；作业可以继续运行（规则：{rule}）",
    ),
    "window_closed": (
        "the window that it ran in closes (rules: {rule})",
        "它所在的时段即将结束（规则：{rule}）",
    ),
    "booked_away": (
        "it makes room for a booking, or its own booking ends (rules: {rule})",
        "为预约让出 GPU，或其自身的预约已到期（规则：{rule}）",
    ),
    "not_started": (
        "it could not be started; its owner is told why",
        "无法启动；原因仅其所有者可见",
    ),
    "preempted": (
        "preempted by job {job}; it did not ask to be queued again",
        "被作业 {job} 抢占；该作业未要求重新排队",
    ),
}


def said_text(
    language: str, message: str, numbers: Mapping[str, str], clock: Callable[[float], str]
) -> str:
    """The sentence of a record. Numbers are kept as text: `*_at` are instants, which `clock`
    writes as people read them, and `*_s` spans in seconds. Raises KeyError for no such sentence."""
    shown: dict[str, str] = {}
    for name, value in numbers.items():
        shown[name] = value
        if name.endswith("_at"):
            shown[name] = clock(float(value))
        elif name.endswith("_s"):
            shown[name.removesuffix("_s")] = format_duration(float(value))
    return say(language, message, **shown)


def plain_clock(at: float) -> str:
    """The instant for those who read a record by itself, in UTC."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
