"""What people are told of their jobs: a subject that is enough, and at most four lines."""

MESSAGES = {
    "job_started": (
        "Job {job} runs on {gpus} GPUs after waiting {waited}",
        "作业 {job} 排队 {waited} 后开始运行，使用 {gpus} 张 GPU",
    ),
    "job_resumed": (
        "Job {job} goes on, {waited} after it gave way",
        "作业 {job} 让出 {waited} 后继续运行",
    ),
    "job_ended": ("Job {job} completed after {ran}", "作业 {job} 运行 {ran} 后正常结束"),
    "failed_exit": (
        "Job {job} failed with exit code {exit_code} after {ran}",
        "作业 {job} 运行 {ran} 后失败，退出码 {exit_code}",
    ),
    "failed_signal": (
        "Job {job} was ended by signal {signal} after {ran}",
        "作业 {job} 运行 {ran} 后被信号 {signal} 终止",
    ),
    "failed_timeout": (
        "Job {job} was ended at its time limit, after {ran}",
        "作业 {job} 运行 {ran} 后到达时限，已结束",
    ),
    "failed_memory": (
        "Job {job} was ended: it ran out of memory after {ran}",
        "作业 {job} 运行 {ran} 后内存不足，已结束",
    ),
    "failed_lost": (
        "Job {job} was lost after {ran}: the machine or its processes went away",
        "作业 {job} 运行 {ran} 后丢失：机器或进程已不在",
    ),
    "failed_launch": ("Job {job} could not be started", "作业 {job} 无法启动"),
    "job_never": (
        "Job {job} will not run: a job that it waits for did not complete",
        "作业 {job} 不会运行：它所等待的作业没有正常完成",
    ),
    "array_ended": (
        "All {count} jobs of array {job} completed",
        "作业组 {job} 的 {count} 个作业全部正常结束",
    ),
    "array_failed": (
        "Array {job} is over: {completed} of {count} jobs completed",
        "作业组 {job} 已结束：{count} 个作业中 {completed} 个正常完成",
    ),
    "job_preempted": (
        "Job {job} gives way to job {for_job} of {for_user}, in {grace}",
        "作业 {job} 将在 {grace} 内让给 {for_user} 的作业 {for_job}",
    ),
    "job_suspended": (
        "Job {job} stands still for job {for_job} of {for_user}",
        "作业 {job} 暂停，让给 {for_user} 的作业 {for_job}",
    ),
    "job_stopped": ("Job {job} is stopped, in {grace}", "作业 {job} 将在 {grace} 内被停止"),
    "job_cancelled": ("Job {job} was cancelled by {by}", "{by} 取消了作业 {job}"),
    "job_requeued": (
        "Job {job} was sent back to the queue by {by}",
        "{by} 将作业 {job} 退回队列",
    ),
    "job_time_limit": (
        "Job {job} reaches its time limit at {end}",
        "作业 {job} 将于 {end} 到达时限",
    ),
    "job_idle": (
        "Job {job} will be stopped: its GPUs do nothing",
        "作业 {job} 的 GPU 一直空转，即将被停止",
    ),
    "job_warned": ("Job {job} needs a look", "作业 {job} 需要留意"),
    "budget": (
        "{percent} % of this month's GPU hours in class {class} are used",
        "本月 {class} 级别的 GPU 小时已用 {percent}%",
    ),
    "name": ("Job name: {name}", "作业名：{name}"),
    "why": ("Why: {why}", "原因：{why}"),
    "rule": ("By rule: {rule}", "依据规则：{rule}"),
    "used": ("{used} of {budget} GPU hours", "已用 {used} / {budget} GPU 小时"),
    "again": (
        "It goes back to its place in the queue and starts again from there: roost why {job}.",
        "它回到队列中原来的位置，之后重新启动：roost why {job}。",
    ),
    "not_again": (
        "It did not ask to be queued again: roost run starts a new one.",
        "该作业未要求重新排队；可用 roost run 重新提交。",
    ),
    "goes_on": (
        "It goes on where it stopped when the GPUs are free again: roost why {job}.",
        "GPU 空出后从暂停处继续：roost why {job}。",
    ),
    "limit": (
        "It is ended then; what it has not saved is lost. See: roost show {job}.",
        "届时作业会被结束，未保存的内容会丢失。查看：roost show {job}。",
    ),
    "see": (
        "See: roost show {job}, roost logs {job}.",
        "查看：roost show {job}，roost logs {job}。",
    ),
    "see_array": ("See: roost jobs --all.", "查看：roost jobs --all。"),
    "see_budget": ("See: roost usage.", "查看：roost usage。"),
    "zone": ("Times are those of {zone}.", "时间均为 {zone} 时区。"),
}
