"""What `roost help` says of notices: part of `cli_help`."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "notify show": ("What I am told, how and where", "我会收到哪些通知、如何收到"),
    "notify set": ("Choose what I am told, how and where", "选择通知内容、方式和时间"),
    "notify set.more": (
        "Only what is named changes. Topics: booking_reminder, booking_changed, maintenance,"
        " job_started, job_ended, job_failed, job_preempted, job_warning, budget, or all.",
        "只改变写出的部分。主题：booking_reminder、booking_changed、maintenance、job_started、"
        "job_ended、job_failed、job_preempted、job_warning、budget，或 all。",
    ),
    "notify set.--topic": ("this topic; again for more", "主题，可重复"),
    "notify set.--as": (
        "how that comes: at once, once a day, not at all",
        "方式：即时、每日、关闭",
    ),
    "notify set.--channel": ("at this channel alone; else at all", "仅此渠道；不写则全部渠道"),
    "notify set.--quiet": (
        'nothing then but what is urgent: 22:00-07:00, or "none"',
        "免打扰时段，紧急的除外：22:00-07:00，或 none",
    ),
    "notify set.--digest-hour": ("hour of the daily summary (8)", "每日汇总的钟点（8）"),
    "notify set.--language": ("language of what I am told", "通知的语言"),
    "notify add": (
        "Add a channel, its address from standard input",
        "添加渠道，地址从标准输入读取",
    ),
    "notify add.more": (
        "Paste the webhook's address that Slack, DingTalk, Feishu or WeCom gives,"
        " tgram://BOT_TOKEN/CHAT for Telegram, or a webhook of your own; what the operators allow,"
        " roost notify show tells. The address is a secret and is never shown again.",
        "粘贴 Slack、钉钉、飞书、企业微信给出的 webhook 地址，Telegram 写 tgram://BOT_TOKEN/CHAT，"
        "或自己的 webhook；管理员允许哪些，见 roost notify show。地址是机密，之后不再显示。",
    ),
    "notify add.--name": ("what I call it", "名称"),
    "notify remove": ("Remove channels", "删除渠道"),
    "notify test": ("Send a test to a channel", "向渠道发送测试通知"),
    "notify list": ("My newest notices, which are read thereby", "我的最新通知（随即标为已读）"),
    "notify list.--limit": ("at most so many (20)", "最多多少条（20）"),
    "motd": (
        "At login: next booking, jobs, maintenance, notices",
        "登录时显示：下一个预约、作业、维护、通知",
    ),
    "motd.more": (
        "Says nothing where there is nothing to say or the daemon is down, and never waits longer"
        " than two seconds. See docs/notifications.md for /etc/profile.d and pam_exec.",
        "无事可说或守护进程未运行时不输出，最多等待两秒。/etc/profile.d 与 pam_exec 的用法见"
        " docs/notifications.md。",
    ),
}
