"""What `roost book import` and `roost book export` say."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "col.where": ("WHERE", "位置"),
    "col.user": ("USER", "用户"),
    "col.gpus": ("GPUS", "GPU"),
    "col.when": ("WHEN", "时间"),
    "col.what": ("PURPOSE", "用途"),
    "at": ("{where}: {text}", "{where}：{text}"),
    "all": ("all", "全部"),
    "any": ("any {count}", "任意 {count} 张"),
    "understood": (
        "Understood: {count}. Times are those of {zone}.",
        "读懂 {count} 条，时间按 {zone}。",
    ),
    "rejected": ("Not understood, or not to be had: {count}", "未读懂或无法安排：{count} 条"),
    "notes": ("Notes:", "说明："),
    "title": ("Bookings", "预约"),
    "exported": ("{count} bookings in {path}.", "已将 {count} 个预约写入 {path}。"),
    "col.feed": ("FEED", "编号"),
    "col.of": ("OF", "内容"),
    "col.made": ("MADE", "创建"),
    "col.used": ("LAST READ", "最近读取"),
    "of_mine": ("own bookings", "自己的预约"),
    "of_gpu": ("GPU {target}", "GPU {target}"),
    "of_group": ("group {target}", "组 {target}"),
    "of_all": ("everybody", "所有人"),
    "no_feeds": ("No feeds.", "没有日历订阅。"),
    "feed_made": (
        "Feed {feed}: keep this address to yourself, it is shown this once;"
        " roost book feed --revoke {feed} ends it.",
        "订阅 {feed}：地址只显示这一次，请勿外传；用 roost book feed --revoke {feed} 吊销。",
    ),
    "feed_no_url": (
        "Put the page's address before it: https://SERVER:PORT",
        "请在前面加上网页的地址：https://服务器:端口",
    ),
    "feed_revoked": ("Feed {feed} is revoked.", "订阅 {feed} 已吊销。"),
    "strangers": (
        "No accounts here: {names}. Say whose they are in the rules: [bookings.aliases]"
        ' "{example}" = "ACCOUNT"',
        '这里没有账号：{names}。请在规则中写明：[bookings.aliases] "{example}" = "账号"',
    ),
    "strange_servers": (
        "Not this daemon's servers: {names} (it has {server})",
        "不是本守护进程的服务器：{names}（现有 {server}）",
    ),
}
