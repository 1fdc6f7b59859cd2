"""What `roost top` says. Headings are short: they stand over columns of few cells."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    # -- title
    "title.models": ("{n} × {model}", "{n} × {model}"),
    "title.no_gpu": ("no GPU", "无 GPU"),
    "title.free": ("{n} free", "{n} 张空闲"),
    "title.none_free": ("none free", "无空闲"),
    "title.waiting": ("{n} waiting", "{n} 个排队"),
    "title.simulated": ("simulated", "模拟"),
    "operator": ("operator", "管理员"),
    "needs_terminal": (
        "this view needs a terminal; for one look without, use: roost status",
        "此视图需要终端；只看一次请用：roost status",
    ),
    "too_small": ("Too small: widen it", "窗口太小，请放大"),
    "loading": ("Asking the daemon …", "正在连接守护进程 …"),
    "never_seen": (
        "Nothing to show yet: no daemon has answered. Is it running? Start it with: roost serve",
        "暂无内容：守护进程没有应答。它在运行吗？启动命令：roost serve",
    ),
    "away": (
        "No readings since {since} ({span}): this is the last picture; trying again",
        "自 {since} 起没有新读数（{span}）：以下是最后的画面，正在重连",
    ),
    "away.never": (
        "No answer from the daemon since {since} ({span}); trying again",
        "守护进程自 {since} 起无应答（{span}），正在重试",
    ),
    # -- GPUs
    "col.model": ("MODEL", "型号"),
    "col.holder": ("HOLDER", "占用者"),
    "col.until": ("UNTIL", "至"),
    "col.memory": ("MEMORY", "显存"),
    "col.used": ("UTIL", "利用"),
    "col.minutes": ("LAST {minutes} MIN", "近 {minutes} 分钟"),
    "free": ("free", "空闲"),
    "booked": ("booked by {user}", "{user} 已预约"),
    "maintenance": ("maintenance", "维护中"),
    "drained": ("drained", "已停用"),
    "since": ("since {span}", "已占 {span}"),
    "until.idle": ("idle {span}", "闲置 {span}"),
    "more": ("{first}-{last} of {total}", "{first}-{last} / 共 {total}"),
    "what.job": ("job {job}", "作业 {job}"),
    "what.jobs": ("jobs {numbers}", "作业 {numbers}"),
    "what.booking": ("booking {booking}", "预约 {booking}"),
    "kind.job": ("job", "作业"),
    "kind.booking": ("booking", "预约"),
    "kind.session": ("session", "登录会话"),
    "kind.container": ("container", "容器"),
    "kind.service": ("service", "系统服务"),
    "kind.unattributed": ("unattributed", "无主"),
    "kind.unknown": ("unknown", "未知"),
    "health.lost": ("lost", "已掉线"),
    "health.reset_required": ("needs a reset", "需要重置"),
    "health.not_answering": ("not answering", "无响应"),
    "health.no_permission": ("no permission", "无权限"),
    "health.missing": ("missing", "不见了"),
    "health.error": ("error", "出错"),
    # -- driver
    "driver.ok": ("This machine has no GPU.", "本机没有 GPU。"),
    "driver.simulated": ("No GPU is simulated.", "没有模拟 GPU。"),
    "driver.no_library": (
        "No NVIDIA driver library on this machine, so no GPU can be read.",
        "本机没有 NVIDIA 驱动库，无法读取 GPU。",
    ),
    "driver.not_loaded": (
        "The NVIDIA kernel module is not loaded, so no GPU can be read.",
        "NVIDIA 内核模块未加载，无法读取 GPU。",
    ),
    "driver.version_mismatch": (
        "Driver library and kernel module differ in version: a reboot or a module reload is due.",
        "驱动库与内核模块版本不一致：需要重启或重新加载模块。",
    ),
    "driver.reloading": ("The driver is being reloaded.", "驱动正在重新加载。"),
    "driver.not_answering": ("The driver does not answer.", "驱动无响应。"),
    "driver.released": (
        "Roost has let go of the driver (roost driver hold takes it up again).",
        "Roost 已释放驱动（roost driver hold 可恢复）。",
    ),
    "driver.error": ("The driver reports an error.", "驱动报错。"),
    "driver.other": ("Driver state: {state}.", "驱动状态：{state}。"),
    # -- lists
    "pane.gpus": ("GPUs", "GPU"),
    "pane.holders": ("Holders", "占用"),
    "pane.jobs": ("Jobs", "作业"),
    "pane.time": ("TIME", "时间"),
    "col.gpu": ("GPU", "GPU"),
    "col.pid": ("PID", "PID"),
    "col.idle": ("IDLE", "闲置"),
    "col.since": ("SINCE", "已用"),
    "col.right": ("RIGHT", "依据"),
    "col.command": ("COMMAND", "命令"),
    "col.user": ("USER", "用户"),
    "col.job": ("JOB", "作业"),
    "col.class": ("CLASS", "级别"),
    "col.state": ("STATE", "状态"),
    "col.asked": ("GPUS", "GPU"),
    "col.text": ("NAME, AND WHAT IT WAITS FOR", "名称与等待原因"),
    "count.gpu": ("1 GPU", "1 张"),
    "count.gpus": ("{n} GPUs", "{n} 张"),
    "count.processes": ("{n} processes", "{n} 个进程"),
    "nobody": ("nobody", "无主"),
    "asks": ("×{n}", "×{n}"),
    "no_process": ("has not opened its GPU", "尚未使用所分配的 GPU"),
    "empty.holders": ("Nobody uses a GPU.", "没有人在使用 GPU。"),
    "empty.jobs": (
        "No job is running or waiting. Submit one: roost run -g 1 -- python train.py",
        "没有运行或排队的作业。提交：roost run -g 1 -- python train.py",
    ),
    "empty.filtered": (
        "Nothing matches the filter; Esc clears it.",
        "没有符合筛选的内容；按 Esc 清除。",
    ),
    "job.ends": ("{name}  ends {end}, ran {ran}", "{name}  {end} 结束，已运行 {ran}"),
    "job.no_end": ("{name}  ran {ran}, no end given", "{name}  已运行 {ran}，未给时限"),
    "class.urgent": ("urgent", "紧急"),
    "class.regular": ("regular", "普通"),
    "class.background": ("background", "后台"),
    "state.PENDING": ("waiting", "排队"),
    "state.STARTING": ("starting", "启动中"),
    "state.RUNNING": ("running", "运行"),
    "state.PREEMPTING": ("yielding", "让出中"),
    "state.SUSPENDED": ("suspended", "暂停"),
    "state.COMPLETING": ("ending", "收尾"),
    # -- time strip
    "strip.more": ("{n} more without an end", "另有 {n} 行无结束时间"),
    "strip.now": ("now", "现在"),
    "strip.no_end": ("end not known", "结束时间未知"),
    # -- keys and filters
    "key.help": ("Help", "帮助"),
    "key.filter": ("Filter", "筛选"),
    "key.user": ("User", "用户"),
    "key.group": ("Group", "分组"),
    "key.sort": ("Sort", "排序"),
    "key.pane": ("Next pane", "切换"),
    "key.end": ("End own", "结束自己的"),
    "key.quit": ("Quit", "退出"),
    "filter.prompt": ("Filter", "筛选"),
    "filter.hint": ("Enter keeps it, Esc clears it", "回车保留，Esc 清除"),
    "filter.user": ("user {user}", "用户 {user}"),
    # -- dialogs
    "choose.user": ("Show one person", "只看某人"),
    "choose.everybody": ("everybody", "所有人"),
    "choose.sort": ("Sort by", "排序方式"),
    "sort.gpu": ("GPU", "GPU"),
    "sort.user": ("user", "用户"),
    "sort.memory": ("memory", "显存"),
    "sort.utilisation": ("utilisation", "利用率"),
    "sort.idle": ("idle", "闲置"),
    "sort.temperature": ("temperature", "温度"),
    "sort.since": ("since when", "起始时间"),
    "sort.pid": ("PID", "PID"),
    "sort.command": ("command", "命令"),
    "sort.state": ("state", "状态"),
    "sort.job": ("number", "编号"),
    "sort.class": ("class", "级别"),
    "sort.gpus": ("GPUs", "GPU 数"),
    "confirm.title.job": ("End job {job}?", "结束作业 {job}？"),
    "confirm.title.process": ("End process {pid}?", "结束进程 {pid}？"),
    "confirm.title.gpu": ("End your processes on GPU {gpu}?", "结束你在 GPU {gpu} 上的进程？"),
    "confirm.job.running": (
        "This cancels job {job} {name} of {user} ({klass}), which has run {span} on GPU {gpus}. "
        "All its processes get a signal, then SIGKILL; it is not queued again.",
        "将取消 {user} 的作业 {job} {name}（{klass}），它已在 GPU {gpus} 上运行 {span}。其所有进程"
        "先收到信号，再收到 SIGKILL；不会重新排队。",
    ),
    "confirm.job.waiting": (
        "This cancels job {job} {name} of {user} ({klass}). It waits and has not started: nothing "
        "that runs is touched.",
        "将取消 {user} 的作业 {job} {name}（{klass}）。它还在排队，没有启动；"
        "不影响任何运行中的进程。",
    ),
    "confirm.processes": (
        "Exactly these are ended (SIGTERM, then SIGKILL); nothing else on GPU {gpu} is touched:",
        "只结束以下进程（先 SIGTERM，再 SIGKILL），GPU {gpu} 上的其他进程不受影响：",
    ),
    "confirm.others": (
        "This is {user}'s, not yours: you act as an operator, and it is written down.",
        "这是 {user} 的，不是你的：你以管理员身份操作，将记入审计日志。",
    ),
    "confirm.more": ("… and {n} more", "… 另有 {n} 个"),
    "confirm.keep": ("Keep (Esc)", "保留（Esc）"),
    "confirm.end": ("End (y)", "结束（y）"),
    "asking": ("Asking the daemon what would be ended …", "正在向守护进程查询将结束什么 …"),
    "ending": ("Ending …", "正在结束 …"),
    "ended.job": ("Job {job} is cancelled.", "作业 {job} 已取消。"),
    "ended.processes": (
        "GPU {gpu}: {ended} of {total} ended{memory}.",
        "GPU {gpu}：已结束 {ended} / {total} 个{memory}。",
    ),
    "ended.memory": (", memory {before} → {after}", "，显存 {before} → {after}"),
    "refused.others": (
        "{what} is {user}'s: only {user} or an operator can end it.",
        "{what} 属于 {user}：只有 {user} 本人或管理员可以结束。",
    ),
    "refused.nobody": (
        "This memory belongs to no process that could be ended: {reason}",
        "这部分显存没有可结束的进程：{reason}",
    ),
    "refused.nothing": ("Nothing of yours is there to end.", "这里没有你可以结束的东西。"),
    "refused.group": (
        "Choose one process or job of {user} to end it.",
        "请选择 {user} 的某个进程或作业再结束。",
    ),
    "refused.gone": (
        "It is gone already: the daemon finds nothing to end there.",
        "它已经不在了：守护进程没有找到可结束的东西。",
    ),
    "refused.away": (
        "The daemon is away: nothing can be ended now.",
        "守护进程无应答：现在无法结束。",
    ),
    "what.process": ("Process {pid}", "进程 {pid}"),
    "details.job": ("Job {job}", "作业 {job}"),
    "details.process": ("Process {pid}", "进程 {pid}"),
    "details.gpu": ("GPU {gpu}", "GPU {gpu}"),
    "about.model": ("Model", "型号"),
    "about.uuid": ("UUID", "UUID"),
    "about.trouble": ("Trouble", "异常"),
    "about.memory": ("Memory", "显存"),
    "about.shares": ("Held by", "占用"),
    "about.jobs": ("Jobs", "作业"),
    "about.temperature": ("Temperature", "温度"),
    "about.power": ("Power", "功率"),
    "about.idle": ("Idle for", "已闲置"),
    "about.user": ("User", "用户"),
    "about.group": ("Group", "组"),
    "about.gpus": ("GPUs", "GPU"),
    "about.right": ("Right", "依据"),
    "about.container": ("Container", "容器"),
    "about.since": ("Since", "起始"),
    "about.reason": ("Why", "原因"),
    "about.sign": ("Seen", "迹象"),
    "about.remedy": ("What helps", "处理办法"),
    "about.drained": ("Drained", "已停用"),
    "about.command": ("Command", "命令"),
    "about.name": ("Name", "名称"),
    "about.class": ("Class", "级别"),
    "about.state": ("State", "状态"),
    "about.submitted": ("Submitted", "提交"),
    "about.started": ("Started", "开始"),
    "about.ends": ("Ends at the latest", "最迟结束"),
    "about.restarts": ("Restarts", "重启次数"),
    "about.wait": ("Waits", "等待"),
    "help.title": ("Help", "帮助"),
    "help.text": (
        "Green is free. A colour is one person, with the initials of the account.\n"
        "Grey hatching is memory that no account answers for. Red needs a hand.\n"
        "\n"
        "Tab, Shift+Tab    next pane: GPUs, holders, jobs, time\n"
        "arrows, mouse     choose a row; Enter shows all about it\n"
        "/ or F4           show what contains a text\n"
        "u                 show one person; Esc shows all again\n"
        "F6, s, heading    order of the rows; I turns it round\n"
        "M  T  P           by memory, by start, by utilisation\n"
        "F5                holders by person, or as one list\n"
        "+  -              more or less time in the strip\n"
        "k or F9           end your own job or process: shows what, then asks\n"
        "t                 dark or light\n"
        "q or F10          leave",
        "绿色是空闲。每个人一种颜色，并标出账号首字母。\n"
        "灰色斜纹是无主的显存。红色表示需要处理。\n"
        "\n"
        "Tab、Shift+Tab    切换：GPU、占用、作业、时间\n"
        "方向键、鼠标      选择一行；回车查看详情\n"
        "/ 或 F4           按文字筛选\n"
        "u                 只看某人；Esc 显示全部\n"
        "F6、s、表头       排序；I 反向\n"
        "M  T  P           按显存、按起始时间、按利用率\n"
        "F5                按人分组，或平铺\n"
        "+  -              时间条放大、缩小\n"
        "k 或 F9           结束自己的作业或进程：先列出，再询问\n"
        "t                 深色或浅色\n"
        "q 或 F10          退出",
    ),
}
