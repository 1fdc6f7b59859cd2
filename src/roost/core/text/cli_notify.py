"""What `roost notify` and `roost motd` say."""

MESSAGES = {
    "way_now": ("at once", "即时"),
    "way_digest": ("daily  ", "每日"),
    "way_off": ("–      ", "–   "),
    "topic_booking_reminder": ("before a booking's start and end", "预约开始前和结束前"),
    "topic_booking_changed": ("a booking changed, or your turn", "预约有变动，或轮到您"),
    "topic_maintenance": ("maintenance ahead", "即将维护"),
    "topic_job_started": ("a job started after a long wait", "作业排队很久后开始"),
    "topic_job_ended": ("a long job completed", "长时间运行的作业正常结束"),
    "topic_job_failed": ("a job failed", "作业失败"),
    "topic_job_preempted": ("a job gives way or is stopped", "作业让出或被停止"),
    "topic_job_warning": ("a job is about to end", "作业即将被结束"),
    "topic_budget": ("GPU hours of the month used up", "本月 GPU 小时将用完"),
    "no_channels": (
        "no channel: roost notify add, if the operators allow any",
        "没有渠道：若管理员允许，可用 roost notify add 添加",
    ),
    "never": ("none", "无"),
    "nothing": ("nothing", "无"),
    "quiet": ("quiet hours: {quiet} ({zone})", "免打扰：{quiet}（{zone}）"),
    "digest": ("the daily summary comes at {hour}:00", "每日汇总时间：{hour}:00"),
    "may": ("allowed here: {may}", "此处允许：{may}"),
    "unread": (
        "{count} notices unread: roost notify list",
        "{count} 条未读通知：roost notify list",
    ),
    "not_allowed": ("not allowed by the operators any more", "管理员已不再允许"),
    "trouble": ("refuses: {trouble}", "被拒绝：{trouble}"),
    "ask_address": ("address (not shown): ", "地址（不回显）："),
    "added": (
        "channel {channel}: {address}; try it with: roost notify test {channel}",
        "渠道 {channel}：{address}；可测试：roost notify test {channel}",
    ),
    "removed": ("channel {channel} is removed", "渠道 {channel} 已删除"),
    "tested": ("a test was taken by {channel}", "{channel} 已收下测试通知"),
    "not_tested": (
        "the test did not arrive at {channel}: {problem}",
        "测试通知未送达 {channel}：{problem}",
    ),
    "no_notices": ("no notices", "没有通知"),
    "motd_maintenance": (
        "Roost: maintenance {start} to {end}",
        "Roost：维护 {start} 至 {end}",
    ),
    "motd_on": (
        "Roost: your booking {booking} is on: {gpus} GPUs until {end}",
        "Roost：您的预约 {booking} 正在进行：{gpus} 张 GPU，至 {end}",
    ),
    "motd_booking": (
        "Roost: your next booking {booking}: {gpus} GPUs, {start} to {end}",
        "Roost：您的下一个预约 {booking}：{gpus} 张 GPU，{start} 至 {end}",
    ),
    "motd_jobs": (
        "Roost: your jobs: {running} running, {waiting} waiting (roost jobs)",
        "Roost：您的作业：运行 {running} 个，排队 {waiting} 个（roost jobs）",
    ),
    "motd_unread": (
        "Roost: {count} unread notices (roost notify list)",
        "Roost：{count} 条未读通知（roost notify list）",
    ),
}
