"""What `roost book` and its parts print."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "changed": (
        "booking {booking}: GPU {gpus}, {start} to {end}",
        "预约 {booking}：GPU {gpus}，{start} 至 {end}",
    ),
    "given": ("booking {booking} is {user}'s now", "预约 {booking} 现在属于 {user}"),
    "swapped": (
        "booking {one} is {user}'s now, and booking {other} is {second}'s",
        "预约 {one} 现在属于 {user}，预约 {other} 属于 {second}",
    ),
    "swap_asked": (
        "{user} is asked; done once they say “roost book swap {other} {one}”",
        "已询问 {user}；对方执行“roost book swap {other} {one}”后生效",
    ),
    "one": (
        "booking {booking} ({state}): {user}, group {group}",
        "预约 {booking}（{state}）：{user}，组 {group}",
    ),
    "when": (
        "  GPU {gpus}, {start} to {end}",
        "  GPU {gpus}，{start} 至 {end}",
    ),
    "repeats": ("  series {series}: {rule}", "  系列 {series}：{rule}"),
    "what_for": ("  purpose: {purpose}", "  用途：{purpose}"),
    "made": ("  made {time} by {user}", "  {user} 于 {time} 预约"),
    "first_used": ("  first used {time}", "  首次使用：{time}"),
    "imported": ("Bookings made: {count}", "已建立 {count} 个预约"),
}
