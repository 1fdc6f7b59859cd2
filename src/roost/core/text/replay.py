"""What `roost replay` says: of traces that cannot be read, of what was left out, and its report."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    # -- a trace that cannot be read -----------------------------------------------------------
    "empty": ("the trace has no line", "作业记录文件是空的"),
    "no_jobs": ("the trace has no job that ran on a GPU", "作业记录里没有在 GPU 上运行过的作业"),
    "no_column": (
        "line 1: the header has no column {column}; needed are {columns}",
        "第 1 行：表头缺少列 {column}；必须有 {columns}",
    ),
    "not_csv": (
        "line {line}: this is not CSV ({detail}); quote fields with commas",
        "第 {line} 行：不是合法的 CSV（{detail}）；含逗号的字段请加引号",
    ),
    "short_line": (
        "line {line}: {count} numbers, at least {least} are needed; is it the Standard Workload"
        " Format?",
        "第 {line} 行：只有 {count} 个数，至少要 {least} 个；这是标准负载格式（SWF）吗？",
    ),
    "not_numbers": (
        "line {line}: a word is not a number, or too large to be true; comments begin with “;”",
        "第 {line} 行：有一项不是数，或大得不合理；注释要以“;”开头",
    ),
    "not_a_number": (
        "line {line}, column {column}: “{value}” is not a number; seconds and GPUs are written"
        " like 90 or 0.5",
        "第 {line} 行 {column} 列：“{value}”不是数；秒数和 GPU 数写成 90 或 0.5",
    ),
    "not_in_range": (
        "line {line}, column {column}: {value} is out of range; write 0 or more",
        "第 {line} 行 {column} 列：{value} 超出范围；须不小于 0",
    ),
    "not_a_time": (
        "line {line}, column {column}: “{value}” is not a time; sacct writes 2026-01-31T08:00:00",
        "第 {line} 行 {column} 列：“{value}”不是时间；sacct 的写法是 2026-01-31T08:00:00",
    ),
    "bad_layout": (
        "--servers {value}: write servers x GPUs, as in 4x8 or 2x8,1x4; {most} GPUs at most",
        "--servers {value}：请写成 服务器数x每台 GPU 数，如 4x8 或 2x8,1x4；最多 {most} 张 GPU",
    ),
    "all_too_large": (
        "every job asks for more than the {gpus} GPUs of --servers; the smallest for {smallest}",
        "每个作业申请的 GPU 都多于 --servers 的 {gpus} 张；最小的申请 {smallest} 张",
    ),
    "not_text": ("this is neither text nor packed by gzip", "既不是文本，也不是 gzip 压缩文件"),
    "broken_gzip": (
        "this begins like gzip but cannot be unpacked: {detail}",
        "文件开头像 gzip，但解压失败：{detail}",
    ),
    "which_format": (
        "its format cannot be told from its name and first lines; say --format csv, swf or sacct",
        "无法从文件名和开头几行判断格式；请用 --format 指定 csv、swf 或 sacct",
    ),
    "stuck": (
        "{policy}: {count} jobs can never start on {servers}: {jobs}. Give them larger servers"
        " (--servers) or other rules (limits, windows)",
        "{policy}：有 {count} 个作业在 {servers} 上永远无法启动：{jobs}。请用 --servers 指定更大的"
        "服务器，或更换规则（限额、时段）",
    ),
    # -- left out, assumed ---------------------------------------------------------------------
    "left_out": ("Left out: {what}.", "未计入：{what}。"),
    "left_out.no_duration": ("{count} that never ran", "{count} 个从未运行"),
    "left_out.no_gpus": ("{count} without a GPU", "{count} 个不用 GPU"),
    "left_out.part_of_job": ("{count} parts of other jobs", "{count} 行是其他作业的片段"),
    "left_out.cancelled_waiting": ("{count} cancelled while waiting", "{count} 个排队时被取消"),
    "left_out.still_waiting": ("{count} that still wait", "{count} 个仍在排队"),
    "left_out.never_ran": ("{count} that ended without having run", "{count} 个未运行就已结束"),
    "left_out.too_large": ("{count} larger than all servers", "{count} 个超过全部服务器的总和"),
    "and": ("; ", "；"),
    "head": (
        "{jobs} on {servers} ({gpus}), submitted within {window}.",
        "{jobs}，服务器 {servers}（共 {gpus}），提交时间跨度 {window}。",
    ),
    "jobs_1": ("{count} job", "{count} 个作业"),
    "jobs_n": ("{count} jobs", "{count} 个作业"),
    "gpus_1": ("{count} GPU", "{count} 张 GPU"),
    "gpus_n": ("{count} GPUs", "{count} 张 GPU"),
    "estimates.exact": (
        "Walltimes: the true durations, which nobody knows beforehand.",
        "预计时长：真实时长（实际中无人事先知道）。",
    ),
    "estimates.trace": (
        "Walltimes: those of the trace; without one, what earlier jobs teach.",
        "预计时长：采用记录中的值；没有的由以往作业推断。",
    ),
    "estimates.noisy": (
        "Walltimes: too long, as people write them; drawn {seeds} times.",
        "预计时长：模拟人们常见的高估，随机抽取 {seeds} 次。",
    ),
    "seeds": (
        "Figures are medians of {seeds} seeds, in brackets the least and the greatest.",
        "数字为 {seeds} 个随机种子的中位数，括号内为最小值和最大值。",
    ),
    "costs.signal": (
        "A preempted job saves its work; each new start costs {restart}.",
        "被抢占的作业会保存进度；每次重新启动需 {restart}。",
    ),
    "costs.none": (
        "A preempted job loses its work; each new start costs {restart}.",
        "被抢占的作业丢失全部进度；每次重新启动需 {restart}。",
    ),
    "costs.every": (
        "A preempted job falls back to its last checkpoint (every {every}); each new\n"
        "start costs {restart}.",
        "被抢占的作业退回上一个检查点（每 {every} 一次）；每次重新启动需 {restart}。",
    ),
    "shared": (
        "{count} jobs ask for a part of a GPU: all GPUs are marked as shared here.",
        "{count} 个作业只申请部分 GPU：这里把所有 GPU 视为共享卡。",
    ),
    "rounded": (
        "{count} jobs ask for one and a half GPUs or the like: rounded up.",
        "{count} 个作业申请的 GPU 数不是整数：已向上取整。",
    ),
    "progress": (
        "{policy} ({run} of {runs}): {done} of {jobs} jobs",
        "{policy}（第 {run}/{runs} 次）：{done}/{jobs} 个作业",
    ),
    # -- the table -----------------------------------------------------------------------------
    "rules_name": ("rules", "规则"),
    "against_name": ("against", "对比规则"),
    "in_force_name": ("in force", "当前规则"),
    "new_name": ("new", "新规则"),
    "difference": ("change", "变化"),
    "row.jobs": ("jobs that ran", "运行了的作业"),
    "row.mean_jct_s": ("completion, mean", "完成时间 平均"),
    "row.median_jct_s": ("  median", "  中位数"),
    "row.p95_jct_s": ("  95 of 100 below", "  95% 不超过"),
    "row.p99_jct_s": ("  99 of 100 below", "  99% 不超过"),
    "row.mean_queue_delay_s": ("waiting, mean", "等待时间 平均"),
    "row.median_queue_delay_s": ("  median", "  中位数"),
    "row.p95_queue_delay_s": ("  95 of 100 below", "  95% 不超过"),
    "row.p99_queue_delay_s": ("  99 of 100 below", "  99% 不超过"),
    "row.max_queue_delay_s": ("  longest", "  最长"),
    "row.mean_bounded_slowdown": ("slowdown, mean", "平均减速比"),
    "row.utilisation_submit_window": ("GPUs put to use", "GPU 利用率"),
    "row.utilisation": ("  until the last end", "  到全部结束"),
    "row.makespan_s": ("all done after", "全部完成用时"),
    "row.preemptions": ("preemptions", "抢占次数"),
    "row.lost_gpu_h": ("GPU hours lost", "损失的 GPU 小时"),
    "row.jain": ("fairness (Jain)", "公平性（Jain）"),
    "row.jobs_per_s": ("jobs a second here", "本机每秒重放作业"),
    "by.user": ("By person", "按用户"),
    "by.group": ("By group", "按组"),
    "by.class": ("By class", "按优先级"),
    "by.size": ("By the GPUs of a job", "按作业的 GPU 数"),
    "by_policy": ("{title}, {policy}:", "{title}，{policy}："),
    "further": ("and {count} more, in --json", "另有 {count} 个，见 --json"),
    "nobody": ("(no name)", "（未注明）"),
    "column.jobs": ("jobs", "作业"),
    "column.gpu_h": ("GPU h", "GPU小时"),
    "column.mean_wait": ("waiting", "等待"),
    "column.p99_wait": ("99/100", "99%"),
    "column.max_wait": ("longest", "最长"),
    "column.mean_jct": ("completion", "完成"),
    "column.slowdown": ("slowdown", "减速比"),
    "column.preempted": ("preempted", "被抢占"),
    # -- what other rules change ---------------------------------------------------------------
    "changes": (
        "Whom --against touches most: mean waiting, and jobs that end a minute or more",
        "--against 对谁影响最大（平均等待，以及早或晚一分钟以上结束的作业数）：",
    ),
    "column.before": ("rules", "规则"),
    "column.after": ("against", "对比规则"),
    "column.sooner": ("sooner", "提前"),
    "column.later": ("later", "推迟"),
    "no_changes": ("--against changes nothing for anybody.", "--against 对任何人都没有影响。"),
    # -- the event log -------------------------------------------------------------------------
    "log_empty": ("the event log has no line", "事件日志是空的"),
    "log_not_json": (
        "line {line} is not JSON, and not the last of its recording",
        "第 {line} 行不是 JSON，也不是一次记录的末尾",
    ),
    "log_version": (
        "line {line}: an event log of version {version}, which this Roost cannot read",
        "第 {line} 行：事件日志版本 {version}，此版本的 Roost 无法读取",
    ),
    "log_no_header": (
        "line {line}: this is not what roost serve --record writes",
        "第 {line} 行：不是 roost serve --record 写的文件",
    ),
    "log_no_scheduler": (
        "line {line}: a step before any scheduler was made",
        "第 {line} 行：调度器尚未建立就有步骤",
    ),
    "log_unknown": (
        "line {line}: {what} is not known; a newer Roost wrote it",
        "第 {line} 行：不认识 {what}；应是更新版本的 Roost 写的",
    ),
    "log_bad_step": ("line {line} cannot be read: {what}", "第 {line} 行无法读取：{what}"),
    "log_same": (
        "{steps} steps with {events} events, {schedulers} times begun anew: the same {decisions}"
        " decisions.",
        "{steps} 步、{events} 个事件、重新开始 {schedulers} 次：{decisions} 个决定全部相同。",
    ),
    "log_cut": (
        "{count} lines were cut short when a daemon was killed, and skipped.",
        "{count} 行因守护进程被杀而不完整，已跳过。",
    ),
    "log_differs": (
        "line {line}: decided otherwise than Roost {roost} did at {at}",
        "第 {line} 行：与 Roost {roost} 在 {at} 的决定不同",
    ),
    "log_events": ("  told:     {what}", "  事件：{what}"),
    "log_recorded": ("  recorded: {what}", "  记录：{what}"),
    "log_decided": ("  now:      {what}", "  现在：{what}"),
    # -- the page ------------------------------------------------------------------------------
    "page.title": ("Replay of {trace} on {servers}", "{trace} 在 {servers} 上的重放"),
    "page.figures": ("Figures", "数据"),
    "page.changes": ("For whom what changes", "对谁有什么影响"),
    "page.charts": ("Waiting, completion, use", "等待、完成与占用"),
    "page.waits": ("Jobs that waited no longer than …", "等待时间不超过……的作业"),
    "page.waits_axis": ("waiting time (scale of tens)", "等待时间（对数刻度）"),
    "page.completions": ("Jobs that were done within …", "在……之内完成的作业"),
    "page.completions_axis": (
        "from submission to the end (scale of tens)",
        "从提交到结束（对数刻度）",
    ),
    "page.held": ("GPUs held", "占用的 GPU"),
    "page.held_axis": ("since the first submission", "自首次提交起"),
    "page.first_seed": ("The charts show the first seed.", "图中为第一个随机种子的结果。"),
}
