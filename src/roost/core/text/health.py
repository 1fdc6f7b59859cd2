"""What the health view says: a sentence for each check of `core.health`, and `_do`: what to do."""

MESSAGES: dict[str, tuple[str, str]] = {
    "store_ok": (
        "The database ({kind}, {mib} MiB) answers in {ms} ms.",
        "数据库（{kind}，{mib} MiB）响应时间 {ms} 毫秒。",
    ),
    "store_slow": (
        "The database ({kind}, {mib} MiB) took {ms} ms to answer.",
        "数据库（{kind}，{mib} MiB）响应过慢：{ms} 毫秒。",
    ),
    "store_slow_do": (
        "See what else uses its disk (iostat, iotop).",
        "请查看还有哪些程序在使用该磁盘（iostat、iotop）。",
    ),
    "store_full": (
        "Nothing can be stored: the disk is full. Jobs run on, nothing new starts.",
        "无法写入：磁盘已满。运行中的作业不受影响，但不会启动新作业。",
    ),
    "store_full_do": (
        "Make room on the disk of Roost's state; it goes on by itself.",
        "请清理 Roost 状态目录所在的磁盘，之后会自动恢复。",
    ),
    "store_fails": (
        "The database cannot be used ({code}). Jobs run on, nothing new starts.",
        "数据库无法使用（{code}）。运行中的作业不受影响，但不会启动新作业。",
    ),
    "store_fails_do": (
        "See `journalctl -u roost-server -n 50`.",
        "请查看 `journalctl -u roost-server -n 50`。",
    ),
    "disk_ok": (
        "{free} of {total} GiB are free where Roost keeps its state.",
        "Roost 状态目录所在磁盘剩余 {free} GiB，共 {total} GiB。",
    ),
    "disk_low": (
        "Only {free} of {total} GiB are free where Roost keeps its state.",
        "Roost 状态目录所在磁盘仅剩 {free} GiB，共 {total} GiB。",
    ),
    "disk_low_do": (
        "Make room before it is full: then nothing new starts.",
        "请及时清理：磁盘写满后不会启动新作业。",
    ),
    "disk_full": (
        "The disk of Roost's state is as good as full: {free} of {total} GiB are free.",
        "Roost 状态目录所在磁盘即将写满：剩余 {free} GiB，共 {total} GiB。",
    ),
    "disk_full_do": (
        "Make room now. What runs goes on; what is new is refused while nothing can be stored.",
        "请立即清理。运行中的作业不受影响；无法写入期间会拒绝新请求。",
    ),
    "disk_unknown": (
        "It could not be told how much room the disk has.",
        "无法得知磁盘剩余空间。",
    ),
    "disk_unknown_do": ("See `df -h`.", "请查看 `df -h`。"),
    "agent_ok": (
        "The agent looked {seconds} s ago.",
        "agent 最近一次读取是 {seconds} 秒前。",
    ),
    "agent_late": (
        "The agent is connected, and its last look is {seconds} s old.",
        "agent 已连接，但最近一次读取已是 {seconds} 秒前。",
    ),
    "agent_late_do": (
        "The driver may hang: see `dmesg` and `journalctl -u roost-agent -n 50`.",
        "驱动可能卡住：请查看 `dmesg` 和 `journalctl -u roost-agent -n 50`。",
    ),
    "agent_no_look": (
        "The agent is connected and has not looked yet.",
        "agent 已连接，尚未完成首次读取。",
    ),
    "agent_no_look_do": (
        "Wait some seconds; cards without nvidia-persistenced take that long to wake.",
        "请稍候几秒；未启用 nvidia-persistenced 时，唤醒显卡需要一些时间。",
    ),
    "agent_away": (
        "The agent is away; its last look is {seconds} s old. Jobs run on, nothing new starts.",
        "agent 未连接；最近一次读取是 {seconds} 秒前。运行中的作业不受影响，但不会启动新作业。",
    ),
    "agent_away_do": (
        "`systemctl restart roost-agent`; why it went: `journalctl -u roost-agent -n 50`.",
        "运行 `systemctl restart roost-agent`；原因见 `journalctl -u roost-agent -n 50`。",
    ),
    "agent_never": (
        "The agent has not been here since the server started.",
        "服务器启动以来，agent 从未连接。",
    ),
    "agent_never_do": (
        "`systemctl start roost-agent`; why it does not come: `journalctl -u roost-agent -n 50`.",
        "运行 `systemctl start roost-agent`；原因见 `journalctl -u roost-agent -n 50`。",
    ),
    "record_ok": (
        "The record is {seconds} s old and goes back {days} days.",
        "用量记录截至 {seconds} 秒前，已保存 {days} 天。",
    ),
    "record_new": (
        "The record is {seconds} s old and goes back less than a day.",
        "用量记录截至 {seconds} 秒前，开始不足一天。",
    ),
    "record_none": (
        "Nothing has been recorded yet.",
        "尚无用量记录。",
    ),
    "record_none_do": (
        "It begins with the agent's first look.",
        "agent 首次读取后开始记录。",
    ),
    "record_late": (
        "Nothing has been recorded for {minutes} minutes.",
        "已有 {minutes} 分钟没有新的用量记录。",
    ),
    "record_late_do": (
        "It follows the agent and the database: mend what stands here of them.",
        "用量记录取决于 agent 和数据库：请先处理与之相关的问题。",
    ),
    "record_gaps": (
        "Of the last seven days {minutes} min were not watched (gaps: {count}).",
        "最近七天有 {count} 段无人读取，共 {minutes} 分钟。",
    ),
    "record_gaps_do": (
        "Restarts and reboots are such gaps. What jobs held in them is on record, what the cards "
        "did is not.",
        "重启会造成这样的空档。期间作业的占用有记录，显卡的读数则没有。",
    ),
    "clock_ok": ("The clock is kept by a time server.", "系统时钟已与时间服务器同步。"),
    "clock_free": (
        "The clock of this server is not kept by a time server.",
        "本服务器的时钟未与时间服务器同步。",
    ),
    "clock_free_do": (
        "`timedatectl set-ntp true`, or install chrony: bookings begin and end by this clock.",
        "运行 `timedatectl set-ntp true` 或安装 chrony：预约的起止以此时钟为准。",
    ),
    "clock_ahead": (
        "The agent's clock is {seconds} s ahead of the server's.",
        "agent 的时钟比服务器快 {seconds} 秒。",
    ),
    "clock_ahead_do": (
        "The clock was set back, or two machines differ: `timedatectl`.",
        "时钟被调慢，或两台机器时间不一致：请查看 `timedatectl`。",
    ),
    "clock_unknown": (
        "It could not be told whether the clock is kept by a time server.",
        "无法得知时钟是否已同步。",
    ),
    "clock_unknown_do": ("See `timedatectl`.", "请查看 `timedatectl`。"),
    "rules_ok": ("Version {version} of the rules is in force.", "规则第 {version} 版正在生效。"),
    "rules_wrong": (
        "The rules file cannot be used, version {version} stays in force: {problem}",
        "规则文件无法使用，第 {version} 版继续生效：{problem}",
    ),
    "rules_wrong_do": (
        "Mend the file, see `roost rules check`; it is read again by itself.",
        "请修正文件（参见 `roost rules check`），Roost 会自动重新读取。",
    ),
    "mail_stuck": (
        "Mail: {waiting} wait after a try that failed, {failed} were given up this week. Last: "
        "{error}",
        "邮件：{waiting} 封发送失败后等待重试，本周放弃 {failed} 封。最近的错误：{error}",
    ),
    "mail_stuck_do": (
        "See `mail.toml` beside the rules, and the mail server's log.",
        "请检查规则文件旁的 `mail.toml` 和邮件服务器日志。",
    ),
    "driver_ok": ("The driver {version} answers.", "驱动 {version} 工作正常。"),
    "driver_simulated": (
        "The GPUs are simulated: no card is behind them.",
        "当前为模拟 GPU，没有真实显卡。",
    ),
    "driver_simulated_do": (
        "Start `roost serve` without --simulate to see this machine's own.",
        "不带 --simulate 启动 `roost serve` 即可使用本机的 GPU。",
    ),
    "driver_released": ("The driver is let go of.", "驱动已被释放。"),
    "driver_wrong": ("The driver ({version}) does not serve.", "驱动（{version}）无法使用。"),
    "gpus_ok": ("{well} of {gpus} GPUs are well.", "{gpus} 张 GPU 中有 {well} 张正常。"),
    "gpus_none": ("This server has no GPU that Roost can see.", "Roost 在本服务器上没有看到 GPU。"),
    "gpus_none_do": ("See `nvidia-smi` and `dmesg`.", "请查看 `nvidia-smi` 和 `dmesg`。"),
    "gpu_wrong": ("GPU {gpu}: {detail}", "GPU {gpu}：{detail}"),
    "gpu_silent": ("GPU {gpu} gives no reading.", "GPU {gpu} 没有读数。"),
    "gpu_silent_do": (
        "Compare with `nvidia-smi`; drain it if it stays so.",
        "请与 `nvidia-smi` 对照；若一直如此，请停用该 GPU。",
    ),
    "gpu_slowed": (
        "GPU {gpu} slows itself down ({why}; {temperature} °C).",
        "GPU {gpu} 正在降频（{why}；{temperature} °C）。",
    ),
    "gpu_slowed_do": (
        "Look at its fans, the room, and the power supply.",
        "请检查风扇、机房温度和供电。",
    ),
    "gpu_ecc": (
        "GPU {gpu} has counted {count} memory errors that it could not correct.",
        "GPU {gpu} 已出现 {count} 次无法纠正的显存错误。",
    ),
    "gpu_ecc_do": (
        "Drain it, then `nvidia-smi -q -d ECC,ROW_REMAPPER`; have the card replaced if they grow.",
        "请停用后运行 `nvidia-smi -q -d ECC,ROW_REMAPPER`；若继续增加，请更换显卡。",
    ),
    "gpu_sums": (
        "GPU {gpu} tells memory that does not add up.",
        "GPU {gpu} 报告的显存数值前后不一致。",
    ),
    "gpu_sums_do": (
        "Compare with `nvidia-smi -q -d MEMORY`; figures of memory may be wrong.",
        "请与 `nvidia-smi -q -d MEMORY` 对照；显存数值可能有误。",
    ),
}
