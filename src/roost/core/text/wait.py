"""Why a job waits, as sentences: the reasons of `core.scheduler.explain`, and the ends of jobs that
never ran. Times come through a clock that the caller gives, in the rules' time zone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from roost.core.rules.units import format_duration
from roost.core.text.catalogue import say
from roost.core.text.numbers import bytes_text, gpus_text, jobs_text

if TYPE_CHECKING:
    from roost.core.scheduler.decisions import Reason, Wait

MESSAGES = {
    "cancelled": ("it was cancelled before it started", "在启动前已被取消"),
    "dependency_failed": (
        "a job that it was to wait for did not complete",
        "它所等待的作业未能成功完成",
    ),
    "dependency_missing": (
        "a job that it was to wait for does not exist",
        "它所等待的作业不存在",
    ),
    "held": (
        "held by a person: roost release lets it go",
        "已被暂缓：用 roost release 放行",
    ),
    "begin": ("begins at {begin_at} at the earliest", "最早于 {begin_at} 开始"),
    "after_running": (
        "waits until job {job} of {user} has completed",
        "等待 {user} 的作业 {job} 完成",
    ),
    "after_waiting": (
        "waits until job {job} of {user} has completed, which is waiting itself",
        "等待 {user} 的作业 {job} 完成，该作业自身也在排队",
    ),
    "after_more": ("{sentence} ({count} jobs in all)", "{sentence}（共 {count} 个作业）"),
    "no_inventory": (
        "waits for the first look at this server's GPUs",
        "等待首次读取本服务器的 GPU 状态",
    ),
    "array": (
        "of array {array} at most {most_jobs} may run at once",
        "作业数组 {array} 同时最多运行 {most_jobs}",
    ),
    "limit_gpus": (
        "{who} may hold {most_gpus}, {held} are held, this job needs {need}",
        "{who} 最多可占用 {most_gpus}，已占用 {held}，本作业需要 {need}",
    ),
    "limit_gpus_never": (
        "needs {need_gpus}, but {who} may hold {most} at most: ask for fewer, or change the rule",
        "需要 {need_gpus}，但 {who} 最多可占用 {most}：请减少申请，或修改规则",
    ),
    "limit_jobs": (
        "{who} may run {most_jobs} at once",
        "{who} 同时最多可运行 {most_jobs}",
    ),
    "limit_jobs_never": ("{who} may run no jobs", "{who} 不允许运行作业"),
    "limit_walltime": (
        "at this hour {who} may run for {longest} at most: ask for a walltime within it, or wait",
        "此时段 {who} 单次最长可运行 {longest}：请申请更短的时长，或等待",
    ),
    "limit_walltime_never": (
        "{who} may run for {longest} at most: ask for a walltime within it",
        "{who} 单次最长可运行 {longest}：请申请更短的时长",
    ),
    "window": (
        "jobs longer than {over} start only in the window {window}, which opens at {opens_at}",
        "超过 {over} 的作业只能在时段 {window} 内开始，该时段于 {opens_at} 开放",
    ),
    "window_never": (
        "jobs longer than {over} start only in the window {window}, and it is never open for long "
        "enough: ask for a shorter walltime",
        "超过 {over} 的作业只能在时段 {window} 内开始，而该时段从不够长：请申请更短的时长",
    ),
    "budget": (
        "{user} used {used_h} of {budget_h} GPU hours for {priority_class} jobs this month,"
        " {planned_h} are kept for those that run, and this job needs {need_h}; a new month"
        " begins at {renewed_at}",
        "{user} 本月的 {priority_class} 作业额度为 {budget_h} GPU 时，已用 {used_h}，"
        "另为运行中的作业预留 {planned_h}，本作业需要 {need_h}；新的一月始于 {renewed_at}",
    ),
    "budget_never": (
        "needs {need_h} GPU hours, but {priority_class} jobs of {user} may use {budget_h} a month:"
        " say a shorter walltime (--time), or ask in another class",
        "需要 {need_h} GPU 时，但 {user} 的 {priority_class} 作业每月额度为 {budget_h}："
        "请缩短时长（--time），或换用其他类别",
    ),
    "idle_for": (
        "{gpus_list} in use until just now: {priority_class} jobs start on GPUs that were idle for"
        " {idle}, from {begin_at} on",
        "{gpus_list} 刚刚被使用：{priority_class} 作业只使用空闲已满 {idle} 的 GPU，"
        "最早 {begin_at}",
    ),
    "scope_user_all": ("{name}", "{name}"),
    "scope_user_class": ("{priority_class} jobs of {name}", "{name} 的 {priority_class} 作业"),
    "scope_group_all": ("group {name}", "组 {name}"),
    "scope_group_class": (
        "{priority_class} jobs of group {name}",
        "组 {name} 的 {priority_class} 作业",
    ),
    "scope_class_all": ("{priority_class} jobs together", "全部 {priority_class} 作业"),
    "scope_class_each": ("{priority_class} jobs", "{priority_class} 作业"),
    "rule": ("{sentence} (rules: {rule})", "{sentence}（规则：{rule}）"),
    "gpus": (
        "waits for {need_gpus}: {free_are} free",
        "等待 {need_gpus}：现有 {free_are}空闲",
    ),
    "gpus_model": (
        "waits for {need_gpus} of model {model}: {free_are} free",
        "等待 {need_gpus}（型号 {model}）：现有 {free_are}空闲",
    ),
    "gpus_never": (
        "needs {need_gpus}, but this server has {total} now",
        "需要 {need_gpus}，但本服务器目前只有 {total} 张",
    ),
    "gpus_never_model": (
        "needs {need_gpus} of model {model}, but this server has {total} now",
        "需要 {need_gpus}（型号 {model}），但本服务器目前只有 {total} 张",
    ),
    "gpus_out": (
        "{count_gpus} cannot be used ({gpus_list})",
        "{count_gpus} 不可用（{gpus_list}）",
    ),
    "gpus_out_why": (
        "{count_gpus} cannot be used ({gpus_list}: {why})",
        "{count_gpus} 不可用（{gpus_list}：{why}）",
    ),
    "gpus_foreign": (
        "{gpus_list} in use by processes outside the queue ({used_bytes}): roost who shows whose",
        "{gpus_list} 被队列外的进程占用（{used_bytes}）：用 roost who 查看是谁",
    ),
    "claimed": (
        "{gpus_text} being freed for job {job} of {user}, which goes first",
        "{gpus_text} 正让给排在前面的作业 {job}（{user}）",
    ),
    "booked": (
        "{gpus_list} booked by {user} until {end_at}",
        "{gpus_list} 已由 {user} 预约至 {end_at}",
    ),
    "booked_from": (
        "{gpus_list} booked by {user} from {begin_at} on; a job that ends before could run now"
        " (--time)",
        "{gpus_list} 自 {begin_at} 起由 {user} 预约；在此之前能结束的作业可以先运行（--time）",
    ),
    "maintenance": (
        "{gpus_list} under maintenance until {end_at}",
        "{gpus_list} 维护中，至 {end_at} 结束",
    ),
    "maintenance_from": (
        "{gpus_list} under maintenance from {begin_at} on; a job that ends before could run now"
        " (--time)",
        "{gpus_list} 自 {begin_at} 起维护；在此之前能结束的作业可以先运行（--time）",
    ),
    "maintenance_server": (
        "this server is under maintenance until {end_at}",
        "本服务器维护中，至 {end_at} 结束",
    ),
    "maintenance_server_from": (
        "this server is under maintenance from {begin_at} on; a job that ends before could run"
        " now (--time)",
        "本服务器自 {begin_at} 起维护；在此之前能结束的作业可以先运行（--time）",
    ),
    "elastic": (
        "waits for as many until {begin_at}, then takes what is free, {need_gpus} or more",
        "在 {begin_at} 之前等待这么多，之后有多少用多少，至少 {need_gpus}",
    ),
    "behind": (
        "job {job} of {user} goes first and keeps the GPUs, CPUs and memory it waits for",
        "{user} 的作业 {job} 排在前面，保留着它所等待的 GPU、CPU 与内存",
    ),
    "behind_until": (
        "job {job} of {user} goes first, at {begin_at} at the latest; a job that ends before"
        " could run now (--time)",
        "{user} 的作业 {job} 排在前面，最迟 {begin_at} 开始；"
        "在此之前能结束的作业可以先运行（--time）",
    ),
    "job_ends": (
        "job {job} of {user} ends by {end_at} at the latest",
        "{user} 的作业 {job} 最迟 {end_at} 结束",
    ),
    "job_open": (
        "job {job} of {user} runs without a time limit",
        "{user} 的作业 {job} 没有运行时限",
    ),
    "job_ending": (
        "job {job} of {user} is just ending",
        "{user} 的作业 {job} 正在结束",
    ),
    "job_suspended": (
        "job {job} of {user} is suspended there, and goes on before others start",
        "{user} 的作业 {job} 在其上暂停，会先于其他作业恢复运行",
    ),
    "suspended": (
        "suspended since {since_at} to make room for job {job} of {user}; goes on where it"
        " stopped as soon as nobody else is on its GPUs",
        "自 {since_at} 起暂停，为 {user} 的作业 {job} 让出 GPU；GPU 重新空出后从原处继续",
    ),
    "suspended_until": (
        "suspended since {since_at} to make room for job {job} of {user}, which ends by {end_at}"
        " at the latest; then goes on where it stopped",
        "自 {since_at} 起暂停，为 {user} 的作业 {job} 让出 GPU；该作业最迟 {end_at} 结束，"
        "之后从原处继续",
    ),
    "suspended_cpus": (
        "suspended since {since_at}; its GPUs are free again, and it goes on when {need} CPU cores"
        " are",
        "自 {since_at} 起暂停；所占的 GPU 已空出，等到有 {need} 个空闲 CPU 核后继续",
    ),
    "preempts": (
        "{gpus_text} will be taken from {count_jobs} now running, once the rest is there too",
        "其余资源到位后，将从 {count_jobs}抢占 {gpus_text}",
    ),
    "min_run": (
        "job {job} of {user} may be preempted from {begin_at} on",
        "{user} 的作业 {job} 从 {begin_at} 起可被抢占",
    ),
    "preempting": (
        "GPUs are being given up for it by {count_jobs}, until {end_at} at the latest",
        "{count_jobs}正在为它让出 GPU，最迟 {end_at} 完成",
    ),
    "ending": (
        "waits for {count_jobs} just ending, by about {end_at}",
        "等待 {count_jobs}结束，预计 {end_at}",
    ),
    "cpus": (
        "waits for CPU cores: needs {need}, {free} of {total} free",
        "等待 CPU：需要 {need} 核，共 {total} 核，空闲 {free} 核",
    ),
    "memory": (
        "waits for {need_bytes} of memory: {free_bytes} of {total_bytes} are free",
        "等待 {need_bytes} 内存：共 {total_bytes}，空闲 {free_bytes}",
    ),
    "share": (
        "waits for {need_bytes} of GPU memory: the most that is free on a shared GPU is"
        " {free_bytes} (GPU {gpu})",
        "等待 {need_bytes} 显存：共享 GPU 上最多空闲 {free_bytes}（GPU {gpu}）",
    ),
    "share_none": (
        "needs {need_bytes} of a shared GPU, but none is marked shared now",
        "需要共享 GPU 上的 {need_bytes} 显存，但目前没有 GPU 标记为共享",
    ),
    "share_never": (
        "needs {need_bytes} of a shared GPU, but the largest has {total_bytes}",
        "需要共享 GPU 上的 {need_bytes} 显存，但最大的只有 {total_bytes}",
    ),
    "share_compute": (
        "waits for {need_percent} % of a shared GPU's compute: where its memory would do, the most"
        " that is free is {free_percent} % (GPU {gpu})",
        "等待共享 GPU 上 {need_percent}% 的算力：显存够用的 GPU 上最多空闲 {free_percent}%"
        "（GPU {gpu}）",
    ),
    "compute_used": (
        "job {job} of {user} has {percent} % of it and runs without a time limit",
        "{user} 的作业 {job} 占用 {percent}%，没有运行时限",
    ),
    "compute_used_until": (
        "job {job} of {user} has {percent} % of it until {end_at} at the latest",
        "{user} 的作业 {job} 占用 {percent}%，最迟 {end_at} 结束",
    ),
    "being_decided": ("is just being decided on", "正在调度"),
    "out_reason": ("{said}: {reason}", "{said}：{reason}"),
    "out_drained": ("drained", "已停用"),
    "out_lost": ("lost from the bus", "已从总线掉线"),
    "out_reset_required": ("needs a reset", "需要重置"),
    "out_not_answering": ("does not answer", "没有应答"),
    "out_no_permission": ("may not be opened", "无权打开"),
    "out_missing": ("is gone", "已消失"),
    "out_error": ("gives errors", "读取出错"),
    "out_driver_no_library": ("no driver library is installed", "未安装驱动库"),
    "out_driver_not_loaded": ("the driver is not loaded", "驱动未加载"),
    "out_driver_version_mismatch": (
        "the driver was updated, a reboot is needed",
        "驱动已更新，需要重启",
    ),
    "out_driver_reloading": ("the driver is being reloaded", "驱动正在重新加载"),
    "out_driver_not_answering": ("the driver does not answer", "驱动没有响应"),
    "out_driver_released": ("Roost has let go of the driver", "Roost 已释放驱动"),
    "out_driver_error": ("the driver gives errors", "驱动报错"),
    "join": ("; ", "；"),
    "is_free": ("{count} is", "{count} 张"),
    "are_free": ("{count} are", "{count} 张"),
    "gpu_list": ("GPU {gpus}", "GPU {gpus}"),
}

Clock = Callable[[float], str]


def render_reason(language: str, reason: Reason, clock: Clock) -> str:
    """One sentence, with the rule behind it. `clock` writes a time as people read it."""
    numbers: dict[str, object] = dict(reason.numbers)
    for name, value in reason.numbers:
        if name.endswith("_at") and isinstance(value, int | float):
            numbers[name] = clock(float(value))
        elif name.endswith("_bytes"):
            numbers[name] = bytes_text(value)
        elif name in ("over_s", "longest_s", "idle_s") and isinstance(value, int | float):
            numbers[name.removesuffix("_s")] = format_duration(float(value))
        elif name in ("need", "most", "count") and isinstance(value, int | float):
            numbers[name + "_gpus"] = gpus_text(language, value)
            numbers[name + "_jobs"] = jobs_text(language, int(value))
        elif name == "free" and isinstance(value, int):
            code = "is_free" if value == 1 else "are_free"
            numbers["free_are"] = say(language, f"wait.{code}", count=value)
        elif name == "why":
            numbers[name] = why_out(language, str(value))
        elif name == "gpus":
            if isinstance(value, int):
                numbers["gpus_text"] = gpus_text(language, value)
            numbers["gpus_list"] = say(language, "wait.gpu_list", gpus=value)
        elif name == "scope":
            numbers["who"] = say(
                language, f"wait.scope_{value}", **dict[str, object](reason.numbers)
            )
    sentence = say(language, f"wait.{reason.code}", **numbers)
    count = numbers.get("count")
    if reason.code.startswith("after_") and isinstance(count, int) and count > 1:
        sentence = say(language, "wait.after_more", sentence=sentence, count=count)
    if reason.rule:
        sentence = say(language, "wait.rule", sentence=sentence, rule=reason.rule)
    return sentence


def why_out(language: str, why: str) -> str:
    """Why a GPU takes nothing new: a state of the card or, with "driver: ", of the driver, or what
    an operator wrote when draining it."""
    kind, _, rest = why.partition(": ")
    code = f"out_driver_{rest}" if kind == "driver" else f"out_{kind}"
    if code not in MESSAGES:
        return why
    said = say(language, f"wait.{code}")
    return (
        say(language, "wait.out_reason", said=said, reason=rest)
        if rest and kind == "drained"
        else said
    )


def render_wait(language: str, wait: Wait, clock: Clock, most: int = 3) -> str:
    """The first `most` reasons in one line; of a job that was only just queued, that."""
    if not wait.reasons:
        return say(language, "wait.being_decided")
    sentences = [render_reason(language, reason, clock) for reason in wait.reasons[:most]]
    return say(language, "wait.join").join(sentences)
