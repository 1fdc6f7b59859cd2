"""Why a submission was refused, and what there is instead. Problems of `core.scheduler`.

`*_bytes` and `*_s` numbers reach these sentences as text with units (`problem_text`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roost.core.rules.units import format_duration
from roost.core.text.catalogue import say
from roost.core.text.numbers import bytes_text, gpus_text, jobs_text

if TYPE_CHECKING:
    from roost.core.scheduler.submission import Problem

MESSAGES = {
    "group_unknown": (
        "there is no group {group}; {user} may charge: {allowed}",
        "没有组 {group}；{user} 可以记账到：{allowed}",
    ),
    "group_not_yours": (
        "{user} is not in group {group}; {user} may charge: {allowed}",
        "{user} 不在组 {group} 中；可以记账到：{allowed}",
    ),
    "cpus_few": (
        "CPU cores asked for: {given}; give the number of cores to keep, or leave it out",
        "申请的 CPU 核数为 {given}；请写要保留的核数，或不写",
    ),
    "cpus_many": (
        "CPU cores asked for: {given}; this server has {total}",
        "申请了 {given} 个 CPU 核；本服务器共有 {total} 个",
    ),
    "memory_few": (
        "{given} bytes of memory were asked for; give a size above 0, as 16G",
        "申请的内存为 {given} 字节；请给出大于 0 的容量，例如 16G",
    ),
    "memory_many": (
        "{given_bytes} of memory were asked for; this server has {total_bytes}",
        "申请了 {given_bytes} 内存；本服务器共有 {total_bytes}",
    ),
    "gpus_few": (
        "{given_gpus} were asked for; a job needs at least 1, this server has {total}",
        "申请了 {given_gpus}；作业至少需要 1 张，本服务器共有 {total} 张",
    ),
    "gpus_range": (
        "at least {given_gpus} and at most {most} were asked for; write the fewer first, as 2..8",
        "申请了至少 {given_gpus}、至多 {most} 张；请先写较小的数，例如 2..8",
    ),
    "gpus_none": (
        "asked for {given_gpus}, but this server has none now",
        "申请了 {given_gpus}；本服务器目前没有 GPU",
    ),
    "gpus_many": (
        "{given_gpus} were asked for; this server has {total_gpus}",
        "申请了 {given_gpus}；本服务器共有 {total_gpus}",
    ),
    "gpus_many_model": (
        "{given_gpus} of model {model} were asked for; this server has {total} of them"
        " (all: {models})",
        "申请了 {given_gpus}（型号 {model}）；本服务器只有 {total} 张（全部：{models}）",
    ),
    "model": (
        "no GPU here is a {given}; this server has {models}",
        "本服务器没有型号为 {given} 的 GPU；现有：{models}",
    ),
    "share_few": (
        "{given} bytes of GPU memory were asked for; give a size above 0, as 10G",
        "申请的显存为 {given} 字节；请给出大于 0 的容量，例如 10G",
    ),
    "share_none": (
        "{given_bytes} of GPU memory were asked for, but no GPU is marked shared"
        " (rules: shared_gpus); ask for whole GPUs with -g",
        "申请了 {given_bytes} 显存，但没有 GPU 标记为共享（规则：shared_gpus）；"
        "请用 -g 申请整张 GPU",
    ),
    "share_model": (
        "no GPU marked shared is a {given}; shared are {models} (rules: shared_gpus)",
        "共享的 GPU 中没有型号 {given}；共享的有：{models}（规则：shared_gpus）",
    ),
    "share_many": (
        "{given_bytes} of GPU memory were asked for; the largest GPU marked shared has"
        " {total_bytes} (rules: shared_gpus)",
        "申请了 {given_bytes} 显存；最大的共享 GPU 只有 {total_bytes}（规则：shared_gpus）",
    ),
    "share_range": (
        "some to many GPUs (-g ..{most}) were asked for together with {given_bytes} of a shared"
        " GPU; a share is of one GPU: leave one of the two out",
        "同时申请了可变数量的 GPU（-g ..{most}）和共享 GPU 上的 {given_bytes} 显存；"
        "份额只能在一张 GPU 上：请去掉其中一个",
    ),
    "compute_alone": (
        "{given} % of a GPU's compute was asked for without a share of its memory; add"
        " --gpu-mem, as --gpu-mem 10G, or ask for whole GPUs with -g alone",
        "申请了一张 GPU 的 {given}% 算力，但没有申请显存份额；请加上 --gpu-mem，例如"
        " --gpu-mem 10G，或只用 -g 申请整张 GPU",
    ),
    "compute_range": (
        "{given} % of a GPU's compute was asked for; give a whole number from 1 to 100, or leave"
        " --gpu-compute out to take turns with the others on the GPU",
        "申请了一张 GPU 的 {given}% 算力；请给出 1 到 100 的整数，或不写 --gpu-compute，"
        "与同一张 GPU 上的其他作业分时使用",
    ),
    "walltime_few": (
        "a walltime of {given} s was asked for; give one above 0, as 4h",
        "申请的运行时限为 {given} 秒；请给出大于 0 的时长，例如 4h",
    ),
    "after_unknown": (
        "there is no job {job} to wait for; see roost jobs --all",
        "没有可等待的作业 {job}；请用 roost jobs --all 查看",
    ),
    "array_empty": ("the array has no jobs", "作业数组为空"),
    "array_many": (
        "the array has {given_jobs}; the most is {most} (rules: max_array)",
        "作业数组有 {given_jobs}；最多 {most} 个（规则：max_array）",
    ),
    "array_limit": (
        "%{given}: at least 1 job of an array must be allowed to run at once",
        "%{given}：作业数组至少要允许 1 个作业同时运行",
    ),
    "budget_walltime": (
        "{user} may use {most_h} GPU hours a month for {priority_class} jobs, so say how long this"
        " one runs at most, as --time 2h (rules: {rule})",
        "{user} 的 {priority_class} 作业每月额度为 {most_h} GPU 时，请写明本作业最长运行多久，"
        "例如 --time 2h（规则：{rule}）",
    ),
    "budget_over": (
        "{given_h} GPU hours were asked for; {user} may use {most_h} a month for {priority_class}"
        " jobs (rules: {rule})",
        "申请了 {given_h} GPU 时；"
        "{user} 的 {priority_class} 作业每月额度为 {most_h}（规则：{rule}）",
    ),
    "max_gpus_group": (
        "this server has {total_gpus}; the most that {priority_class} jobs of group {group} may"
        " hold is {most} (rules: {rule})",
        "本服务器共有 {total_gpus}；"
        "组 {group} 的 {priority_class} 作业最多可占用 {most} 张（规则：{rule}）",
    ),
    "max_gpus_user": (
        "this server has {total_gpus}; the most that {priority_class} jobs of {user} may hold is"
        " {most} (rules: {rule})",
        "本服务器共有 {total_gpus}；"
        "{user} 的 {priority_class} 作业最多可占用 {most} 张（规则：{rule}）",
    ),
    "max_walltime_group": (
        "a walltime of {given_span} was asked for; {priority_class} jobs of group {group} may run"
        " {most_span} at most (rules: {rule})",
        "申请的运行时限为 {given_span}；"
        "组 {group} 的 {priority_class} 作业最长可运行 {most_span}（规则：{rule}）",
    ),
    "max_walltime_user": (
        "a walltime of {given_span} was asked for; {priority_class} jobs of {user} may run"
        " {most_span} at most (rules: {rule})",
        "申请的运行时限为 {given_span}；"
        "{user} 的 {priority_class} 作业最长可运行 {most_span}（规则：{rule}）",
    ),
    "max_walltime_missing": (
        "say how long the job may run, with --time; {priority_class} jobs of group {group} may run"
        " {most_span} at most (rules: {rule})",
        "请用 --time 说明作业的运行时限；"
        "组 {group} 的 {priority_class} 作业最长可运行 {most_span}（规则：{rule}）",
    ),
    "max_jobs_group": (
        "{priority_class} jobs of group {group} may not run now: at most {most} at once"
        " (rules: {rule})",
        "组 {group} 的 {priority_class} 作业不允许运行：同时最多 {most} 个（规则：{rule}）",
    ),
    "max_jobs_user": (
        "{priority_class} jobs of {user} may not run: at most {most} at once (rules: {rule})",
        "{user} 的 {priority_class} 作业不允许运行：同时最多 {most} 个（规则：{rule}）",
    ),
    "max_queued_group": (
        "group {group} has {waiting_jobs} waiting; with this request it would be {given}, the most"
        " for {priority_class} jobs is {most} (rules: {rule})",
        "组 {group} 已有 {waiting_jobs}在排队；加上本次共 {given} 个，{priority_class} 作业最多"
        " {most} 个（规则：{rule}）",
    ),
    "max_queued_user": (
        "{user} has {waiting_jobs} waiting; with this request it would be {given}, the most"
        " for {priority_class} jobs is {most} (rules: {rule})",
        "{user} 已有 {waiting_jobs}在排队；加上本次共 {given} 个，{priority_class} 作业最多"
        " {most} 个（规则：{rule}）",
    ),
}


def problem_text(language: str, problem: Problem) -> str:
    """One sentence for a person."""
    numbers: dict[str, object] = {}
    for name, value in problem.numbers:
        numbers[name] = value
        if name.endswith("_bytes"):
            numbers[name] = bytes_text(value)
        elif name in ("given", "total", "most", "waiting") and isinstance(value, int):
            numbers[name + "_gpus"] = gpus_text(language, value)
            numbers[name + "_jobs"] = jobs_text(language, value)
            if problem.key == "walltime_s":
                numbers[name + "_span"] = format_duration(value)
    return say(language, f"submit.{problem.code}", **numbers)
