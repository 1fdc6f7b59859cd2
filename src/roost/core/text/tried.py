"""What `roost rules try` and a replay of the team's own history say."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "reading": ("reading the history: {count} jobs", "正在读取历史：{count} 个作业"),
    "head": (
        "{jobs} of {people} on {servers} ({gpus}), {start} to {end}.",
        "{servers}（{gpus}）上 {people}的 {jobs}，{start} 至 {end}。",
    ),
    "people_1": ("{count} person", "{count} 人"),
    "people_n": ("{count} people", "{count} 人"),
    "compared": (
        "In force: version {version} of the rules. New: {path}, {keys} otherwise.",
        "当前规则：版本 {version}。新规则：{path}，有 {keys}不同。",
    ),
    "compared_same": (
        "{path} says the same as the rules in force (version {version}): nothing can change.",
        "{path} 与当前规则（版本 {version}）内容相同，不会有任何变化。",
    ),
    "keys_1": ("{count} key", "{count} 项"),
    "keys_n": ("{count} keys", "{count} 项"),
    "really": (
        "In truth these jobs waited {truth} on average; replayed by the rules in force,"
        " {replayed}.",
        "这些作业当时实际平均等待 {truth}；按当前规则重放为 {replayed}。",
    ),
    # -- for whom ------------------------------------------------------------------------------
    "nothing": ("Nothing changes for anybody.", "对任何人都没有影响。"),
    "better": ("Better off: {who}.", "受益：{who}。"),
    "worse": ("Worse off: {who}.", "受损：{who}。"),
    "same": ("About the same: {who}.", "基本不变：{who}。"),
    "with": ("{who} ({what})", "{who}（{what}）"),
    "waits_less": ("{span} less waiting a job", "每个作业平均少等 {span}"),
    "waits_more": ("{span} more waiting a job", "每个作业平均多等 {span}"),
    "others_waits_less": ("the others wait {span} less", "其余作业平均少等 {span}"),
    "others_waits_more": ("the others wait {span} more", "其余作业平均多等 {span}"),
    "refused_1": ("{count} job refused", "{count} 个作业被拒绝"),
    "refused_n": ("{count} jobs refused", "{count} 个作业被拒绝"),
    "never_1": ("{count} job never starts", "{count} 个作业永远无法启动"),
    "never_n": ("{count} jobs never start", "{count} 个作业永远无法启动"),
    "more_people": ("{count} more", "另 {count} 人"),
    "list": (", ", "、"),
    "all": ("all", "全部"),
    "arrow": ("{before} → {after}", "{before} → {after}"),
    "column.jobs": ("jobs", "作业"),
    "column.gpu_h": ("GPU h", "GPU小时"),
    "column.waiting": ("waiting", "等待"),
    "column.completion": ("completion", "完成"),
    "column.sooner": ("sooner", "提前"),
    "column.later": ("later", "推迟"),
    "column.verdict": ("", ""),
    "column.preempted": ("preempted", "被抢占"),
    "column.lost": ("GPU h lost", "损失GPU小时"),
    "column.refused": ("refused", "被拒绝"),
    "column.never": ("never start", "无法启动"),
    "verdict.better": ("better", "受益"),
    "verdict.worse": ("worse", "受损"),
    "verdict.same": ("same", "不变"),
    "legend": (
        "In force → new, averages of jobs that run by both. Waiting is all time from the submission"
        " to the end but the work; sooner and later: by a minute or more. Better: at least a minute"
        " less waiting a job; worse: a minute more, or jobs that cannot run any more.",
        "当前规则 → 新规则，均为两种规则下都能运行的作业的平均值。等待指从提交到结束除实际工作以外"
        "的全部时间；提前和推迟以一分钟为准。受益：每个作业平均少等一分钟以上；受损：多等一分钟以上，"
        "或有作业不能再运行。",
    ),
    # -- refused, never started ----------------------------------------------------------------
    "refused": ("Refused by the new rules:", "新规则会拒绝："),
    "never": ("Would never start by the new rules:", "按新规则永远无法启动："),
    "after": (
        "it waits for a job that would not run",
        "它所等待的作业不会运行",
    ),
    "jobs_of": ("{user} {jobs}", "{user} {jobs}"),
    "semicolon": ("; ", "；"),
    "and_more": ("{jobs} and {count} more", "{jobs} 等（另 {count} 个）"),
    "one_why": ("job {job} of {user}: {why}", "{user} 的作业 {job}：{why}"),
    "jobs_why": (
        "{count} jobs, such as {job} of {user}: {why}. These are: {whose}",
        "{count} 个作业，如 {user} 的作业 {job}：{why}。它们是：{whose}",
    ),
    "no_reason": ("the rules never let it", "规则始终不允许"),
    "further": ("and {count} more, in --json", "另有 {count} 个，见 --json"),
    "admitted": (
        "Refused today by the rules in force, and run by the new ones: {count}.",
        "{count} 个按当前规则会被拒绝的作业，按新规则可以运行。",
    ),
    "neither": (
        "Refused today by both, or never started: {count} in all, {jobs}.",
        "{count} 个作业按两种规则今天都会被拒绝或永远无法启动：{jobs}。",
    ),
    "not_run": (
        "{policy}: refused today, or never started: {count} in all, {jobs}.",
        "{policy}：{count} 个作业今天会被拒绝或永远无法启动：{jobs}。",
    ),
    # -- what a replay cannot know -------------------------------------------------------------
    "unknown": ("What this cannot know", "重放无法得知的"),
    "unknown.people": (
        "People would have behaved otherwise: what they ask for, and when, follows from the rules"
        " that they know.",
        "规则不同，人的做法也会不同：申请什么、何时提交，都取决于大家所知道的规则。",
    ),
    "unknown.hand": (
        "GPUs used by hand, drained or lost at the time count as free here; bookings stand as they"
        " were in the end.",
        "当时被手动占用、停用或故障的 GPU，在这里都视为空闲；预约按其最终的时间和 GPU 计算。",
    ),
    "unknown.rules": (
        "Today's rules and GPUs stand for the whole period, whatever held and was there then.",
        "整个时段都按今天的规则和 GPU 计算，不论当时的规则和 GPU 是怎样的。",
    ),
    "unknown.usage": (
        "What was used before counts by the day. How busy GPUs were is not replayed: held is held."
        " Jobs that were on hold count as ready from their submission.",
        "时段之前的用量按天计入。GPU 有多忙不重放：占用即算使用。曾被暂缓的作业视为提交后即可"
        "运行。",
    ),
    "unknown.before": (
        "Begun or waiting when the period begins: {count}. They take part, with what was left to"
        " do, and are not counted.",
        "时段开始时已在运行或排队：{count} 个。按剩余部分参与重放，但不计入数字。",
    ),
    "unknown.still_running": (
        "Not over at its end: {count}. They take part with what they ran so far, and are not"
        " counted.",
        "时段结束时尚未结束：{count} 个。按已运行的部分参与重放，但不计入数字。",
    ),
    "unknown.cancelled_waiting": (
        "Cancelled while waiting: {count}. How long they would have run nobody knows; they are"
        " left out.",
        "排队时被取消：{count} 个。无人知道它们会运行多久，未计入。",
    ),
    "unknown.still_waiting": (
        "Still waiting: {count}. They are left out for the same reason.",
        "仍在排队：{count} 个。同样未计入。",
    ),
    "unknown.never_ran": (
        "Ended without ever having run: {count}. Left out too.",
        "从未运行就已结束：{count} 个。同样未计入。",
    ),
    "unknown.too_large": (
        "Larger than what there is: {count}. Left out.",
        "超过现有 GPU：{count} 个。未计入。",
    ),
    # -- the page ------------------------------------------------------------------------------
    "page.title": (
        "{path} tried on the history of {server}",
        "用 {server} 的历史试行 {path}",
    ),
    "page.replay": ("Replay of the history of {server}", "{server} 的历史重放"),
    "page.who": ("Who is better off, who worse", "谁受益，谁受损"),
    "page.gone": ("What could not run any more", "哪些作业不能再运行"),
}
