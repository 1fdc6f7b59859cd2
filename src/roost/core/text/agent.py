"""What the agent says of jobs that did not start, and of what a machine cannot hold to."""

MESSAGES = {
    # -- why a job is refused or did not start
    "unknown_user": (
        "There is no account {user} on this server.",
        "本服务器上没有账号 {user}。",
    ),
    "system_user": (
        "{user} is a system account (uid {uid}; people's begin at {uid_min}), and those run no"
        " jobs.",
        "{user} 是系统账号（uid {uid}，普通用户从 {uid_min} 起），系统账号不能运行作业。",
    ),
    "disabled_user": (
        "The account {user} is disabled (its shell is {shell}).",
        "账号 {user} 已停用（登录 shell 为 {shell}）。",
    ),
    "expired_user": (
        "The account {user} is disabled (it has expired).",
        "账号 {user} 已停用（账号已过期）。",
    ),
    "accounts_not_root": (
        "The agent does not run as root, and only root can see to accounts.",
        "agent 不是以 root 身份运行，而管理账号需要 root。",
    ),
    "accounts_failed": (
        "The accounts could not be seen to: {detail}.",
        "无法处理账号：{detail}。",
    ),
    "root_group": (
        "The account {user} belongs to the group root, and such accounts run no jobs.",
        "账号 {user} 属于 root 组，此类账号不能运行作业。",
    ),
    "other_user": (
        "This Roost serves one person only, and {user} is somebody else.",
        "此 Roost 只为一名用户服务，不能以 {user} 的身份运行作业。",
    ),
    "bad_spec": (
        "The job cannot be started as it was asked for: {detail}.",
        "作业的请求有误，无法启动：{detail}。",
    ),
    "unknown_gpu": (
        "This server has no GPU {uuid}.",
        "本服务器上没有 GPU {uuid}。",
    ),
    "gpu_without_node": (
        "GPU {uuid} has no device file number now, so it cannot be given to a job.",
        "GPU {uuid} 目前没有设备文件编号，无法分配给作业。",
    ),
    "stale_attempt": (
        "Job {job} has been started with the newer attempt {newer} already.",
        "作业 {job} 已以更新的第 {newer} 次尝试启动。",
    ),
    "still_running": (
        "Attempt {attempt} of job {job} is still running.",
        "作业 {job} 的第 {attempt} 次尝试仍在运行。",
    ),
    "no_space": (
        "The agent cannot write its records ({detail}): free some space under {path}.",
        "agent 无法写入记录（{detail}）：请在 {path} 下腾出空间。",
    ),
    "no_supervisor": (
        "The job's supervisor could not be started ({detail}).",
        "无法启动作业的监护进程（{detail}）。",
    ),
    "no_cgroup": (
        "The job's cgroup could not be made ({detail}).",
        "无法为作业建立 cgroup（{detail}）。",
    ),
    "setup_failed": (
        "The job's surroundings could not be prepared: {step}: {detail}.",
        "作业运行环境准备失败：{step}：{detail}。",
    ),
    "environment_gone": (
        "The environment {name} is not there, or not whole ({path}: {detail}).",
        "环境 {name} 不存在或不完整（{path}：{detail}）。",
    ),
    "directory_gone": (
        "The directory {path} is not there any more or cannot be entered ({detail}).",
        "目录 {path} 已不存在或无法进入（{detail}）。",
    ),
    "output_failed": (
        "The output file {path} cannot be written by {user} ({detail}).",
        "用户 {user} 无法写入输出文件 {path}（{detail}）。",
    ),
    "command_not_found": (
        "The command {command} does not exist.",
        "命令 {command} 不存在。",
    ),
    "command_not_in_path": (
        "The command {command} was not found in PATH ({path}).",
        "在 PATH（{path}）中找不到命令 {command}。",
    ),
    "command_not_executable": (
        "The command {command} is not executable for {user} ({detail}).",
        "用户 {user} 没有执行命令 {command} 的权限（{detail}）。",
    ),
    "command_failed": (
        "The command {command} could not be executed ({detail}).",
        "命令 {command} 无法执行（{detail}）。",
    ),
    "script_interpreter": (
        "The script's interpreter {command} cannot be executed ({detail}).",
        "脚本解释器 {command} 无法执行（{detail}）。",
    ),
    "lost_supervisor": (
        "The job's supervisor was killed; what was left of the job has been ended.",
        "作业的监护进程被杀死，作业残留的进程已全部结束。",
    ),
    "lost_reboot": (
        "The server restarted while the job ran.",
        "作业运行期间服务器重启。",
    ),
    "lost_shutdown": (
        "The server was shut down while the job ran.",
        "作业运行期间服务器被关机或重启。",
    ),
    # -- why a job was not suspended
    "not_suspended_yet": (
        "The job has not started yet, so there is nothing to suspend.",
        "作业尚未启动，无从挂起。",
    ),
    "is_ending": (
        "The job is being ended, so it is not suspended.",
        "作业正在结束，不再挂起。",
    ),
    "not_frozen": (
        "The job's processes cannot be frozen ({why}); it runs on.",
        "无法冻结作业的进程（{why}），作业继续运行。",
    ),
    "not_still": (
        "Not all of the job's processes stood still in time ({which}); it runs on.",
        "作业的部分进程未能及时停下（{which}），作业继续运行。",
    ),
    "no_cuda_checkpoint": (
        "The job's GPU memory cannot be moved into host memory here ({why}); it runs on.",
        "此处无法将作业的显存转存到主机内存（{why}），作业继续运行。",
    ),
    "not_checkpointed": (
        "The job's GPU memory was not moved into host memory ({why}); it runs on as before.",
        "未能将作业的显存转存到主机内存（{why}），作业照常继续运行。",
    ),
    "no_room_on_host": (
        "The job holds {needed} MiB on its GPUs, and {where} has room for {room} MiB only; it runs"
        " on as before.",
        "作业占用显存 {needed} MiB，而{where}仅剩 {room} MiB，作业照常继续运行。",
    ),
    # -- why it ended
    "gpu_state_lost": (
        "What the job had on its GPUs could not be brought back ({why}), so it was ended. Its next"
        " run starts from what it had saved itself.",
        "作业的 GPU 状态无法恢复（{why}），作业已被终止；重新运行时只能从它自行保存的进度继续。",
    ),
    "terminal_closed": (
        "Its terminal was closed.",
        "作业的终端已关闭。",
    ),
    "terminal_unused": (
        "Nobody attached to its terminal within {seconds} s.",
        "{seconds} 秒内无人连接作业的终端。",
    ),
    "unknown_attempt": (
        "The agent knows no attempt {attempt} of job {job}.",
        "agent 没有作业 {job} 第 {attempt} 次尝试的记录。",
    ),
    "not_your_job": (
        "Job {job} is not yours.",
        "作业 {job} 不属于你。",
    ),
    "no_terminal": (
        "Job {job} has no terminal, or has ended.",
        "作业 {job} 没有终端，或已结束。",
    ),
    # -- the posture of this machine
    "audit_not_root": (
        "This Roost runs as an ordinary account, and mends nothing.",
        "此 Roost 以普通账号运行，不能修复。",
    ),
    "audit_busy": (
        "Too many ask for the machine's posture at once: try again in a moment.",
        "同时请求检查的人太多，请稍后再试。",
    ),
    # -- limits of this machine
    "limit_not_root": (
        "Roost runs as {user}: it serves this account alone and cannot wall GPUs off.",
        "Roost 以 {user} 身份运行：只为该账号服务，无法隔离 GPU。",
    ),
    "limit_no_cgroup": (
        "No cgroup can be made here: CPU, memory and process limits of jobs do not hold.",
        "此处无法建立 cgroup：作业的 CPU、内存和进程数限制不生效。",
    ),
    "limit_no_controller": (
        "The cgroup controller {controller} is not available: that limit of jobs does not hold.",
        "cgroup 控制器 {controller} 不可用：作业的相应限制不生效。",
    ),
    "limit_no_device_filter": (
        "No device filter can be set here: jobs can open GPUs that they were not given.",
        "此处无法设置设备过滤：作业可以打开未分配给它的 GPU。",
    ),
    "limit_no_private_dev": (
        "No private /dev can be made here: jobs see the device files of all GPUs.",
        "此处无法建立私有 /dev：作业能看到所有 GPU 的设备文件。",
    ),
}


def say_limit(language: str, limit: str) -> str:
    """The sentence for an item of `HostFacts.limits`: "limit_CODE" or "limit_CODE KEY=VALUE"."""
    code, _, pair = limit.partition(" ")
    key, _, value = pair.partition("=")
    english, chinese = MESSAGES[code]
    sentence = chinese if language == "zh" else english
    return sentence.format(**({key: value} if key else {}))
