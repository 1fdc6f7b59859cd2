"""Help of every command and option; the keys are those of `roost.cli.commands`."""

from __future__ import annotations

from roost.core.text.cli_help_account import MESSAGES as ACCOUNT
from roost.core.text.cli_help_audit import MESSAGES as AUDIT
from roost.core.text.cli_help_book import MESSAGES as BOOK
from roost.core.text.cli_help_data import MESSAGES as DATA
from roost.core.text.cli_help_env import MESSAGES as ENV
from roost.core.text.cli_help_notify import MESSAGES as NOTIFY

MESSAGES: dict[str, tuple[str, str]] = {
    "usage_word": ("Usage: ", "用法："),
    "options": ("Options:", "选项："),
    "intro": (
        "Roost shares GPU servers by explicit rules: who uses what, a queue, a fair bill.",
        "Roost 按明确的规则共享 GPU 服务器：谁在占用、如何排队、怎样公平记账。",
    ),
    "more": (
        "“roost COMMAND --help” says more. ROOST_SOCKET or --socket names the daemon.",
        "用“roost 命令 --help”查看详情；用 ROOST_SOCKET 或 --socket 指定守护进程。",
    ),
    "group.see": ("See", "查看"),
    "group.queue": ("Queue", "排队"),
    "group.book": ("Book", "预约"),
    "group.environments": ("Environments", "环境"),
    "group.notices": ("Be told", "接收通知"),
    "group.data": ("Share data and models", "共享数据与模型"),
    "group.reach": ("Reach over HTTP", "经 HTTP 访问"),
    "group.operate": ("Operate", "管理"),
    "group.people": ("People", "人员账号"),
    "group.set_up": ("Set up", "部署"),
    "group.about": ("About", "关于"),
    "exit_codes": (
        "Exit codes: 0 done, 1 refused or failed, 2 usage, 3 no daemon, 4 not allowed.",
        "退出码：0 完成，1 被拒绝或失败，2 用法错误，3 没有守护进程，4 无权限。",
    ),
    # -- common options ------------------------------------------------------------------------
    "--socket": ("the daemon's socket", "守护进程的套接字"),
    "--help": ("this text", "显示本说明"),
    "--json": ("print one JSON document", "输出 JSON"),
    "--user": ("of this account only", "只看这个账号"),
    "--group": ("of this group only", "只看这个组"),
    "--yes": ("do not ask", "不再询问"),
    "--dry-run": ("say what would be done, and do nothing", "只说明会做什么，不执行"),
    "--root": ("write below this folder instead of /", "写到此目录下，而不是 /"),
    # -- see -----------------------------------------------------------------------------------
    "status": (
        "Every GPU on a line: free, or whose and until when",
        "每张 GPU 一行：空闲，或谁占用到何时",
    ),
    "status.--watch": (
        "print again every so many seconds (2), until Ctrl-C",
        "每隔若干秒（默认 2）刷新，Ctrl-C 结束",
    ),
    "who": (
        "Who holds each GPU, since when, and by what right",
        "谁占用每张 GPU、从何时起、凭什么",
    ),
    "who.--gpu": ("of this GPU only (index or UUID)", "只看这张 GPU（序号或 UUID）"),
    "who.--scan": ("search every process first", "先扫描所有进程"),
    "top": ("Live view of GPUs, holders and jobs", "实时查看 GPU、占用者和作业"),
    # -- queue ---------------------------------------------------------------------------------
    "run": ("Queue a command or a script", "提交命令或脚本，排队运行"),
    "run.more": (
        "roost run [OPTIONS] -- COMMAND... queues a command.\n"
        "roost run [OPTIONS] SCRIPT [ARG...] queues a script that begins with #!, with "
        "the options of its #ROOST lines; #SBATCH lines are read where they have a "
        "meaning here. SCRIPT - is standard input. Options on the command line go before "
        "#ROOST, and #ROOST before #SBATCH.\n"
        "The job gets this shell's environment, directory and umask, and runs as you. "
        "Output goes to roost-JOB.out (roost-ARRAY_INDEX.out); a PATTERN may hold %j job,"
        " %A array, %a index, %x name, %u user.\n"
        "Sizes: 10G, 512M. Times: 90m, 4h, 1d12h, 2:30:00.",
        "roost run [选项] -- 命令...：提交一条命令。\n"
        "roost run [选项] 脚本 [参数...]：提交以 #! 开头的脚本，读取其中的 #ROOST 行；#SBAT"
        "CH 行在有对应含义时也会采用。脚本写 - 表示标准输入。优先级：命令行选项、#ROOST、#S"
        "BATCH。\n"
        "作业沿用当前 shell 的环境变量、目录和 umask，以你的身份运行。输出写入 roost-作业号"
        ".out（数组为 roost-数组号_序号.out）；PATTERN 中可用 %j 作业号、%A 数组号、%a 序号"
        "、%x 名称、%u 用户。\n"
        "容量：10G、512M。时长：90m、4h、1d12h、2:30:00。",
    ),
    "run.--gpus": (
        "whole GPUs (1); 2..8: at least 2, up to 8 where they are free",
        "整卡数量（默认 1）；2..8 表示至少 2 张，有空闲时最多 8 张",
    ),
    "run.--gpu-mem": ("a share: this much memory of a shared GPU", "共享卡上的显存份额"),
    "run.--gpu-compute": (
        "with --gpu-mem: this much of that GPU's compute, 1 to 100; else it takes turns on it",
        "与 --gpu-mem 同用：该卡算力的百分比（1 到 100）；不写则与他人分时使用",
    ),
    "run.--gpu-model": ("only on GPUs of this model", "只用这种型号的 GPU"),
    "run.--class": (
        "priority: urgent, regular or background",
        "优先级：urgent 紧急、regular 普通、background 后台",
    ),
    "run.--time": ("ended after this long", "最长运行时间，到时结束"),
    "run.--cpus": (
        "CPU cores kept for it; without it the job shares all cores with others",
        "为作业保留的 CPU 核数；不写则与他人共享全部核",
    ),
    "run.--mem": ("memory of the host; more ends the job", "内存上限，超出则结束作业"),
    "run.--name": ("the job's name", "作业名称"),
    "run.--reason": (
        "why, for the audit log; the rules may ask for it",
        "理由，记入操作记录；规则可能要求填写",
    ),
    "run.--group": ("the group that it is charged to", "记账的组"),
    "run.--array": (
        "one job for each index: 0-9, 1,3,7, 0-99:10, 0-9%2 (two at once)",
        "每个序号一个作业：0-9、1,3,7、0-99:10、0-9%2（同时最多 2 个）",
    ),
    "run.--after": ("start after these jobs have ended well", "在这些作业成功结束后才启动"),
    "run.--begin": (
        "not before: 18:00, “tomorrow 9:00”, +2h, 2026-12-03T09:00 (time zone of the rules)",
        "最早启动时间：18:00、“明天 9:00”、+2h、2026-12-03T09:00（按规则的时区）",
    ),
    "run.--hold": ("queue it held, until roost release", "提交后先暂缓，直到 roost release"),
    "run.--chdir": ("the directory that it runs in", "运行目录"),
    "run.--env-file": (
        "variables from a file of NAME=VALUE lines, over this shell's",
        "从文件读取 NAME=VALUE，覆盖当前环境变量",
    ),
    "run.--signal": (
        "send this signal so many seconds (60) before the time is over",
        "到时前若干秒（默认 60）先发此信号",
    ),
    "run.--output": ("where its output goes", "输出文件"),
    "run.--no-requeue": (
        "when preempted or lost with the server, end rather than queue again",
        "被抢占或因服务器故障中断时直接结束，不再排队",
    ),
    "run.--wait": ("wait for the end, and exit as the job does", "等到结束，退出码与作业相同"),
    "run.--follow": (
        "show its output until the end, then as --wait",
        "显示输出直到结束，其余同 --wait",
    ),
    "run.--pty": ("interactively, on this terminal", "在当前终端上交互运行"),
    "jobs": ("Jobs that run and wait", "正在运行和排队的作业"),
    "jobs.--mine": ("your own", "只看自己的"),
    "jobs.--all": ("ended ones too", "包括已结束的"),
    "jobs.--state": ("in these states: RUNNING,PENDING", "只看这些状态：RUNNING,PENDING"),
    "jobs.--limit": ("at most so many", "最多显示多少个"),
    "show": ("All about a job", "作业详情"),
    "why": ("What a job waits for, and until when", "作业在等什么，预计何时启动"),
    "logs": ("A job's output", "作业输出"),
    "logs.--follow": ("until the job has ended", "持续显示直到作业结束"),
    "logs.--lines": ("the last lines only", "只看最后若干行"),
    "wait": ("Wait for jobs; exit as they did", "等待作业结束，退出码与作业相同"),
    "wait.more": (
        "Exits as the job did: its code, 128+N for signal N, 124 when its time was over. "
        "With several jobs, as the first of them that did not end well. 124 too when "
        "--timeout is over.",
        "退出码与作业相同；被信号 N 终止为 128+N，超时为 124。多个作业时取第一个没有成功的"
        "。--timeout 到时也是 124。",
    ),
    "wait.--timeout": ("wait no longer than this", "最多等这么久"),
    "cancel": ("End jobs, or take them out of the queue", "结束作业或取消排队"),
    "hold": ("Keep waiting jobs from starting", "暂缓排队中的作业"),
    "release": ("Let held jobs start again", "放行被暂缓的作业"),
    "requeue": ("End running jobs and queue them again", "结束运行中的作业并重新排队"),
    # -- operate -------------------------------------------------------------------------------
    "free": (
        "End the processes that hold a GPU, shown first",
        "结束占用某张 GPU 的进程，先列出再询问",
    ),
    "free.more": (
        "Lists exactly the processes that it would end, and why each belongs to that GPU;"
        " then asks. They get SIGTERM, the grace, SIGKILL. Your own, or as an operator "
        "anybody's. It is written to the audit log.",
        "先列出将要结束的每个进程及其属于该 GPU 的依据，再询问。依次发送 SIGTERM、等待、SIG"
        "KILL。只能结束自己的进程；管理员可结束任何人的。操作写入审计日志。",
    ),
    "free.--grace": (
        "time between SIGTERM and SIGKILL (10s)",
        "SIGTERM 与 SIGKILL 之间的时间（10s）",
    ),
    "drain": ("Start nothing new on a GPU", "不再向某张 GPU 分配新作业"),
    "drain.--reason": ("shown to everyone", "原因，所有人可见"),
    "undrain": ("Use a drained GPU again", "恢复使用被停用的 GPU"),
    "driver release": (
        "Let go of the driver, to reset a GPU or change MIG",
        "释放驱动，以便重置 GPU 或更改 MIG",
    ),
    "driver hold": ("Take the driver up again", "重新使用驱动"),
    "usage": ("Hours held and used, by person and job", "按人和作业统计占用与使用时长"),
    "usage.--from": ("from this day or time on", "起始日期或时间"),
    "usage.--to": ("up to this day or time, not included", "截止日期或时间（不含）"),
    # -- reach ---------------------------------------------------------------------------------
    "token create": (
        "A token for scripts that reach the API over HTTP",
        "为经 HTTP 访问 API 的脚本新建令牌",
    ),
    "token create.more": (
        "The secret goes to standard output and is never shown again. A token does what its scopes "
        "say, as its maker, who keeps it secret: send it as “Authorization: Bearer roost_…”.",
        "密文写到标准输出，之后不再显示。令牌以新建者的身份、在权限范围内行事，请妥善保管；"
        "请求时发送“Authorization: Bearer roost_…”。",
    ),
    "token create.--name": ("what it is for", "用途"),
    "token create.--scope": (
        "read (the default), jobs, bookings, operate; can be repeated",
        "read（默认）、jobs、bookings、operate，可重复",
    ),
    "token create.--expires": ("how long it holds (90d)", "有效期（90d）"),
    "token list": ("Tokens in force; operators see everybody's", "有效的令牌；管理员可见所有人的"),
    "token revoke": ("End tokens at once", "立即吊销令牌"),
    # -- set up --------------------------------------------------------------------------------
    "serve": ("Start Roost in the foreground", "在前台启动 Roost"),
    "serve.more": (
        "As root it serves the machine: the agent as root, the server as the system user "
        "roost, which is made if it is not there. As anyone else it serves that user "
        "alone. SIGTERM or Ctrl-C stops it; jobs go on. For systemd see roost install.",
        "以 root 运行时服务整台机器：agent 以 root 运行，server 以系统用户 roost 运行（没有"
        "则建立）。普通用户运行时只服务自己。SIGTERM 或 Ctrl-C 停止，作业继续运行。systemd "
        "见 roost install。",
    ),
    "serve.--simulate": (
        "simulated GPUs: 8xA100, 4xH100, 2xRTX4090 …",
        "模拟 GPU：8xA100、4xH100、2xRTX4090 …",
    ),
    "serve.--auto-simulate": ("8xA100 where there is no GPU", "没有 GPU 时模拟 8xA100"),
    "server.--http": (
        "serve the page too, such as 127.0.0.1:8080; elsewhere than on loopback only with TLS",
        "同时提供网页，如 127.0.0.1:8080；非回环地址须启用 TLS",
    ),
    "server.--http-prefix": (
        "the page's path behind a proxy: /roost",
        "网页在代理之后的路径，如 /roost",
    ),
    "server.--http-name": (
        "a host name by which people reach the page, beside the machine's own",
        "除本机名外，访问网页所用的主机名",
    ),
    "server.--tls-cert": ("certificate and chain (PEM)", "证书及证书链（PEM）"),
    "server.--tls-key": ("its private key (PEM)", "证书的私钥（PEM）"),
    "server.--trusted-proxy": (
        "address or network of a proxy whose X-Forwarded headers are believed",
        "可信代理的地址或网段，采信其 X-Forwarded 头",
    ),
    "serve.--http": (
        "serve the page too, such as 127.0.0.1:8080; elsewhere than on loopback only with TLS",
        "同时提供网页，如 127.0.0.1:8080；非回环地址须启用 TLS",
    ),
    "serve.--http-prefix": (
        "the page's path behind a proxy: /roost",
        "网页在代理之后的路径，如 /roost",
    ),
    "serve.--http-name": (
        "a host name by which people reach the page, beside the machine's own",
        "除本机名外，访问网页所用的主机名",
    ),
    "serve.--tls-cert": ("certificate and chain (PEM)", "证书及证书链（PEM）"),
    "serve.--tls-key": ("its private key (PEM)", "证书的私钥（PEM）"),
    "serve.--trusted-proxy": (
        "address or network of a proxy whose X-Forwarded headers are believed",
        "可信代理的地址或网段，采信其 X-Forwarded 头",
    ),
    "server.--state": ("its files", "状态文件的目录"),
    "server.--rules": ("the rules file", "规则文件"),
    "server.--database": ("sqlite:///… or postgresql://…", "sqlite:///… 或 postgresql://…"),
    "server.--record": (
        "append what the scheduler is told and decides, for roost replay --events",
        "把调度器收到的事件和决定追加到文件，供 roost replay --events 核对",
    ),
    "serve.--state": ("its files, and its sockets", "状态文件和套接字的目录"),
    "serve.--rules": ("the rules file", "规则文件"),
    "serve.--database": ("sqlite:///… or postgresql://…", "sqlite:///… 或 postgresql://…"),
    "serve.--record": (
        "append what the scheduler is told and decides, for roost replay --events",
        "把调度器收到的事件和决定追加到文件，供 roost replay --events 核对",
    ),
    "install": (
        "Set up this machine: user, systemd units, rules, completions",
        "在本机部署：账号、systemd 单元、规则、命令补全",
    ),
    "uninstall": (
        "Take away what install set up; rules and data stay",
        "移除 install 部署的内容，保留规则和数据",
    ),
    "uninstall.--purge": ("rules and data too", "连同规则和数据一起移除"),
    "rules check": ("Say what is wrong in a rules file", "检查规则文件"),
    "rules show": ("The rules in force", "显示当前规则"),
    "rules show.--text": ("as the author wrote them", "按作者写的原文"),
    "rules diff": (
        "What differs between the rules in force, files and versions",
        "比较生效的规则、文件和历史版本",
    ),
    "rules diff.more": (
        "Without FILE from the rules in force to the file on disk, with one FILE\n"
        "from the rules in force to it, with two from the first to the second.\n"
        "A number is a version of `roost rules history`.",
        "不写 FILE：从生效的规则到磁盘上的文件；一个 FILE：从生效的规则到它；\n"
        "两个：从第一个到第二个。数字表示 `roost rules history` 里的版本。",
    ),
    "rules history": ("Which rules were in force when, and by whom", "规则的历次变更和作者"),
    "rules history.--limit": ("so many versions", "显示多少个版本"),
    "rules try": (
        "What new rules would have done here, and to whom",
        "用团队自己的历史试行新规则，看会影响到谁",
    ),
    "rules try.more": (
        "roost rules try new.toml replays what ran here by the rules in force and by those of the "
        "file, on the GPUs of this server: who would have waited less and who more, what would "
        "have been refused or preempted, and what such a replay cannot know. Nothing is changed, "
        "and everybody may ask.",
        "roost rules try new.toml 在本服务器的 GPU 上，分别按当前规则和文件中的规则重放这里运行过"
        "的作业：谁会少等、谁会多等，哪些作业会被拒绝或被抢占，以及这种重放无法得知什么。不会改"
        "动任何东西，人人可用。",
    ),
    "rules try.--since": (
        "from then on: 30d (the default), 12h, or a day such as 2026-11-01",
        "从何时起：30d（默认）、12h，或某一天如 2026-11-01",
    ),
    "rules try.--restart-cost": (
        "time that a preempted job needs to start again (30s)",
        "被抢占的作业重新启动所需时间（30s）",
    ),
    "rules try.--checkpoint": (
        "what a preempted job keeps: signal (all, the default), none, or up to its last "
        "checkpoint, every 30m or so",
        "被抢占时保留的进度：signal 全部（默认）、none 不保留，或按间隔（如 30m）保存检查点",
    ),
    "rules try.--html": ("write a page with charts too", "另写一个带图表的网页"),
    "replay.--since": (
        "instead of a trace: what ran here since then (30d, or a day), on the GPUs of this server "
        "unless --servers names others, by the rules in force unless --rules does",
        "不用作业记录，改为重放这里自那时（30d，或某一天）以来运行过的作业；不写 --servers 则在"
        "本服务器的 GPU 上，不写 --rules 则按当前规则",
    ),
    "replay": (
        "Run past jobs by these rules or others, and compare",
        "用当前规则、其他规则或经典策略重放作业记录并比较",
    ),
    "replay.more": (
        "roost replay jobs.csv --servers 4x8 says how long jobs would have waited, how well the "
        "GPUs would have been used and how evenly people served. TRACE: CSV with job_id, "
        "submit_s, gpus, duration_s (and user, vc, estimate_s, priority), the Standard Workload "
        "Format, or sacct --parsable2; also with gzip. - is standard input. Needs no daemon, but "
        "for --since: then what ran here is replayed.\n"
        "Without --baseline the rules of --rules (else the defaults) are replayed; --against "
        "adds other rules, and says for whom what changes.",
        "roost replay jobs.csv --servers 4x8 给出作业会等多久、GPU 利用率如何、对各人是否公平。T"
        "RACE 可以是 CSV（job_id、submit_s、gpus、duration_s，另可有 user、vc、estimate_s、pri"
        "ority）、标准负载格式（SWF）或 sacct --parsable2 的输出，可用 gzip 压缩；- 表示标准输入"
        "。不需要守护进程；--since 除外，它重放这里运行过的作业。\n"
        "不写 --baseline 时按 --rules（默认为默认规则）重放；--against 与另一份规则比较，并说明"
        "对谁有什么影响。",
    ),
    "replay.--servers": (
        "servers to replay on: 4x8 is four of eight GPUs; 2x8,1x4",
        "重放所用的服务器：4x8 为四台八卡；2x8,1x4",
    ),
    "replay.--rules": ("a rules file, instead of the defaults", "规则文件，代替默认规则"),
    "replay.--against": ("other rules, to compare with", "用于对比的另一份规则"),
    "replay.--baseline": (
        "a textbook order: fifo, easy, conservative, sjf, srtf, srsf; may be repeated",
        "经典策略：fifo、easy、conservative、sjf、srtf、srsf；可写多个",
    ),
    "replay.--estimates": (
        "walltimes: exact durations, those of the trace, or noisy overestimates",
        "预计时长：exact 真实时长、trace 记录中的值、noisy 随机高估",
    ),
    "replay.--seeds": ("draw noisy walltimes so many times (10)", "noisy 的抽取次数（10）"),
    "replay.--restart-cost": (
        "time that a preempted job needs to start again (30s)",
        "被抢占的作业重新启动所需时间（30s）",
    ),
    "replay.--checkpoint": (
        "what a preempted job keeps: signal (all, the default), none, or up to its last "
        "checkpoint, every 30m or so",
        "被抢占时保留的进度：signal 全部（默认）、none 不保留，或按间隔（如 30m）保存检查点",
    ),
    "replay.--by": (
        "also by user, group, class or size of the jobs; may be repeated",
        "另按 user 用户、group 组、class 优先级、size 大小列出；可写多个",
    ),
    "replay.--format": (
        "csv, swf or sacct; guessed without it",
        "csv、swf 或 sacct；不写则自动判断",
    ),
    "replay.--html": (
        "write a page with charts too",
        "另写一个带图表的网页",
    ),
    "replay.--events": (
        "instead of a trace: what roost serve --record wrote; every decision must be the same",
        "改为重放 roost serve --record 的记录，逐一核对每个决定",
    ),
    "completions": ("Completions for bash, zsh or fish", "输出 bash、zsh 或 fish 的补全脚本"),
    "version": ("The versions of this program and the daemon", "显示程序和守护进程的版本"),
    "help": ("Help on a command", "查看命令的用法"),
    "agent": ("The agent alone, for systemd and serve", "只启动 agent，供 systemd 和 serve 使用"),
    "server": (
        "The server alone, for systemd and serve",
        "只启动 server，供 systemd 和 serve 使用",
    ),
    **AUDIT,
    **ACCOUNT,
    **BOOK,
    **NOTIFY,
    **ENV,
    **DATA,
}
