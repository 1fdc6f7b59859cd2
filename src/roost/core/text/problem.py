"""What the API answers when it does not do what was asked (RFC 9457 `detail`)."""

MESSAGES = {
    "no_job": (
        "there is no job {job}",
        "没有编号为 {job} 的作业",
    ),
    "not_your_job": (
        "job {job} is {user}'s: only its owner, a lead of its group and operators may do this",
        "作业 {job} 属于 {user}：只有作业所有者、所属组的组长和管理员可以执行此操作",
    ),
    "job_ended": (
        "job {job} has ended ({state}): there is nothing to {action}",
        "作业 {job} 已结束（{state}），不能再 {action}",
    ),
    "not_pending": (
        "job {job} is {state}: only a pending job can be held or released",
        "作业 {job} 当前为 {state}：只有排队中的作业可以暂缓或放行",
    ),
    "not_running": (
        "job {job} is {state}: it holds no GPUs and is already in the queue",
        "作业 {job} 当前为 {state}：未占用 GPU，已在队列中",
    ),
    "not_running_signal": (
        "job {job} is {state}: a signal needs a running job",
        "作业 {job} 当前为 {state}：只能向运行中的作业发送信号",
    ),
    "operators_only": (
        "only operators may do this (rules: operators)",
        "只有管理员可以执行此操作（规则：operators）",
    ),
    "not_yours": (
        "process {pid} is {user}'s: only its owner and operators may end it",
        "进程 {pid} 属于 {user}：只有其所有者和管理员可以结束它",
    ),
    "cannot_listen": (
        "cannot listen on {path}: {detail}",
        "无法监听 {path}：{detail}",
    ),
    "no_peer": (
        "this connection does not say who is calling: use the Unix socket",
        "无法得知此连接的调用者身份：请使用 Unix 套接字",
    ),
    "no_observation": (
        "nothing has been observed yet: try again in a few seconds",
        "尚无观测数据：请几秒后重试",
    ),
    "not_in_plan": (
        "process {pid} (started at tick {start_ticks}) does not hold GPU {gpu} any more: look at"
        " what would be ended again",
        "进程 {pid}（启动时刻 {start_ticks}）已不再占用 GPU {gpu}：请重新查看将被结束的进程",
    ),
    "accounts_wrong": (
        "nothing was done: {text}",
        "未执行任何操作：{text}",
    ),
    "accounts_changed": (
        "nothing was done: the accounts are not as they were when the steps were shown; look again",
        "未执行任何操作：账号状况与展示步骤时不同，请重新查看",
    ),
    "no_user": (
        "there is no account {user} on this server, and nothing of one is on record",
        "本服务器上没有账号 {user}，也没有它的任何记录",
    ),
    "no_account": (
        "uid {uid} has no account on this server: a job runs as a Linux account",
        "uid {uid} 在本服务器上没有账号：作业必须以 Linux 账号运行",
    ),
    "agent_away": (
        "the agent of this server is not there at the moment: try again in a few seconds; if it"
        " stays away, see the daemon's log",
        "本服务器的 agent 暂时不可用：请几秒后重试；若仍不可用，请查看 server 的日志",
    ),
    "agent_refused": (
        "the agent refused: {text}",
        "agent 拒绝了请求：{text}",
    ),
    "no_check": (
        "The audit has no check {check}; there are: {allowed}.",
        "没有检查项 {check}；可用的有：{allowed}。",
    ),
    "agent_slow": (
        "the agent did not answer within {seconds:g} s: what was asked may still happen",
        "agent 未在 {seconds:g} 秒内答复：请求仍可能被执行",
    ),
    "one_user": (
        "this Roost was started by an ordinary user and serves that user alone; {user} cannot run"
        " jobs here",
        "此 Roost 由普通用户启动，只服务该用户本人；{user} 无法在此运行作业",
    ),
    "array_too_large": (
        "this array has {count} jobs; the most is {limit} (rules: max_array)",
        "该数组有 {count} 个作业；最多允许 {limit} 个（规则：max_array）",
    ),
    "no_gpu": (
        "there is no GPU {gpu} on this server; it has {gpus}",
        "本服务器没有 GPU {gpu}；现有：{gpus}",
    ),
    "invalid": (
        "{key}: {problem}",
        "{key}：{problem}",
    ),
    "too_large": (
        "{key} has {size} bytes; the most is {limit}",
        "{key} 有 {size} 字节；上限为 {limit}",
    ),
    "body_too_large": (
        "the request is larger than {limit} bytes",
        "请求超过 {limit} 字节",
    ),
    "not_found": (
        "there is nothing at {path}",
        "{path} 不存在",
    ),
    "method_not_allowed": (
        "{method} is not possible at {path}",
        "{path} 不支持 {method}",
    ),
    "bad_request": (
        "the request could not be understood: {detail}",
        "无法理解请求：{detail}",
    ),
    "internal": (
        "Roost made a mistake (see the server's log, {reference}): nothing was changed by it as far"
        " as is known",
        "Roost 内部出错（详见服务端日志，{reference}）：据目前所知未造成任何更改",
    ),
    "command_or_script": (
        "give either a command or a script",
        "请提供 command 或 script 之一",
    ),
    "no_rules_version": (
        "there is no version {version} of the rules; the newest is {newest}",
        "没有版本 {version} 的规则；最新版本是 {newest}",
    ),
    "rules_too_heavy": (
        "this text takes too long to read: it has far more tables or keys than rules need",
        "读取这段规则耗时过长：其中的表或键远多于规则所需",
    ),
    "bad_name": (
        "name: at most {limit} characters, and no control characters such as line breaks",
        "name：最多 {limit} 个字符，且不能包含换行等控制字符",
    ),
    "bad_reason": (
        "reason: one line of at most {limit} characters",
        "reason：只能是一行，最多 {limit} 个字符",
    ),
    "reason_required": (
        "{which} jobs need a reason here, which others will read in the audit log: add"
        ' --reason "…" (rules: {rule})',
        "这里提交 {which} 作业须写明理由，理由会记入操作记录：请加 --reason “…”（规则：{rule}）",
    ),
    "has_nul": (
        "{key} contains a zero byte, which no program can be given",
        "{key} 含有零字节，无法传给任何程序",
    ),
    "bad_array": (
        "array: {value} is no list of numbers such as 0-9, 1,3,7 or 0-99%4",
        "array：{value} 不是有效的编号列表，例如 0-9、1,3,7 或 0-99%4",
    ),
    "bad_signal": (
        "signal: {value} is no signal such as USR1, or USR1@60 for 60 s before the end",
        "signal：{value} 不是有效的信号，例如 USR1，或 USR1@60 表示结束前 60 秒发送",
    ),
    "bad_time": (
        "{key}: {value} is no time such as 2026-12-02T09:00 or 2026-12-02T09:00+08:00",
        "{key}：{value} 不是有效的时间，例如 2026-12-02T09:00 或 2026-12-02T09:00+08:00",
    ),
    "not_absolute": (
        "{key}: {value} does not begin with /",
        "{key}：{value} 不是以 / 开头的绝对路径",
    ),
    "bad_environment": (
        "environment: {value} is no name of a variable",
        "environment：{value} 不是有效的变量名",
    ),
    "not_your_output": (
        "what job {job} prints is for its owner and operators alone",
        "作业 {job} 的输出只有其所有者和管理员可以查看",
    ),
    "too_many_outputs": (
        "you look at too many outputs at once ({limit} are allowed): close some, or ask less often",
        "您同时查看的输出过多（上限 {limit} 个）：请关闭一些，或降低查询频率",
    ),
    "output_none": (
        "this job keeps no output: it runs in a terminal, or was submitted without a file for it",
        "此作业没有输出文件：它在终端中运行，或提交时未指定输出文件",
    ),
    "output_waiting": (
        "the job has not started: it has printed nothing yet",
        "作业尚未启动，还没有输出",
    ),
    "output_gone": (
        "there is no output file: it was deleted or moved, or the job never opened it",
        "找不到输出文件：可能已被删除或移走，或作业从未打开过它",
    ),
    "output_no_file": (
        "the output goes to a pipe, a device or a folder: only an ordinary file can be shown",
        "输出指向管道、设备或目录：只能显示普通文件",
    ),
    "output_unreadable": (
        "the job's owner cannot read this file: {why}",
        "作业所有者无法读取此文件：{why}",
    ),
    "output_slow": (
        "the disk with the output does not answer: it is tried again",
        "输出所在的磁盘没有响应，稍后会再试",
    ),
    "env_bad_name": (
        "“{name}” is no name of an environment: NAME, or OWNER/NAME for a shared one",
        "“{name}”不是环境名称：应为“名称”，共享的环境为“所有者/名称”",
    ),
    "env_no_clone": (
        "no clone of yours called {name} is kept for here",
        "这里没有为你名为 {name} 的克隆保留文件",
    ),
    "env_not_shared": (
        "there is no shared environment {name}: roost env list shows those that are",
        "没有共享的环境 {name}：用 roost env list 查看已有的",
    ),
    "env_not_yours": (
        "environment {name} is shared by {owner}: only its owner and operators may end that",
        "环境 {name} 由 {owner} 共享：只有其所有者和管理员可以取消共享",
    ),
    "env_manifest": (
        "the list of the environment's files cannot be used: {text}",
        "环境的文件清单无法使用：{text}",
    ),
    "env_missing_file": (
        "{path} of the environment has not been sent: share it again",
        "环境中的 {path} 还没有上传：请重新共享",
    ),
    "env_interpreter": (
        "{path}, the Python of the environment, can be changed by others than root: make the"
        " environment with a Python of the system (--python /usr/bin/python3)",
        "环境所用的 Python（{path}）可被 root 以外的人改动：请用系统的 Python 创建环境"
        "（--python /usr/bin/python3）",
    ),
    "env_share_limit": (
        "your shared environments would hold more than {limit} bytes, {used} are used already"
        " (rules: environments.share_limit)",
        "你共享的环境将超过 {limit} 字节，已用 {used} 字节（规则：environments.share_limit）",
    ),
    "env_upload": (
        "what was sent is not what it says ({text}): nothing of it is kept",
        "上传的内容与声明不符（{text}）：没有保留",
    ),
    "env_disk": (
        "the disk of the shared environments has only {free} bytes left",
        "共享环境所在的磁盘只剩 {free} 字节",
    ),
    "env_clones": (
        "you have {limit} clones of shared environments, which is the most",
        "你已有 {limit} 个共享环境的克隆，达到上限",
    ),
    "output_busy": (
        "too many outputs are being read on this server: it is tried again",
        "本服务器正在读取的输出过多，稍后会再试",
    ),
}
