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
