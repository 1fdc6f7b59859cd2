"""What people are told of their bookings by mail: a subject that is enough, and four lines."""

MESSAGES = {
    "booking_made": (
        "Booked for you by {by}: GPU time {start} – {end} (booking {booking})",
        "{by} 为您预约了 GPU：{start} 至 {end}（预约 {booking}）",
    ),
    "booking_starts": (
        "Your booking {booking} begins {start}: {gpus} GPUs until {end}",
        "您的预约 {booking} 将于 {start} 开始：{gpus} 张 GPU，至 {end}",
    ),
    "booking_ends": (
        "Your booking {booking} ends {end}",
        "您的预约 {booking} 将于 {end} 结束",
    ),
    "booking_expired": (
        "No GPU became free for booking {booking} by {end}: it is closed",
        "预约 {booking} 到 {end} 仍未等到空闲 GPU，已关闭",
    ),
    "booking_maintenance": (
        "Maintenance {start} – {end}: {gpus} GPUs are away",
        "维护：{start} 至 {end}，{gpus} 张 GPU 不可用",
    ),
    "booking_in_way": (
        "GPU {gpu} is booked by {by} {start} – {end}: your {what} has to be off it",
        "GPU {gpu} 已由 {by} 预约（{start} 至 {end}）：请结束您在其上的{what}",
    ),
    "booking_occupied": (
        "Your booking {booking} has begun, and GPU {gpu} is still held by {by} ({what})",
        "您的预约 {booking} 已开始，但 GPU {gpu} 仍被 {by} 占用（{what}）",
    ),
    "what_process": ("process {pid}", "进程 {pid}"),
    "what_job": ("job {job}", "作业 {job}"),
    "ask": (
        "Ask them, or an operator: roost free {gpu}.",
        "请联系对方，或请管理员执行 roost free {gpu}。",
    ),
    "leave": (
        "What you have there: roost who. End it: roost free {gpu}.",
        "查看：roost who。结束：roost free {gpu}。",
    ),
    "booking_no_show": (
        "Your booking {booking} was released: nobody used it",
        "您的预约 {booking} 一直无人使用，已释放",
    ),
    "booking_turn": (
        "Your turn: booking {booking} has {gpus} GPUs, {start} – {end}",
        "轮到您了：预约 {booking} 获得 {gpus} 张 GPU，{start} 至 {end}",
    ),
    "booking_moved": (
        "Your booking {booking} was changed by {by}: now {start} – {end}",
        "{by} 更改了您的预约 {booking}：现为 {start} 至 {end}",
    ),
    "booking_cancelled": (
        "Your booking {booking} was cancelled by {by} ({start} – {end})",
        "{by} 取消了您的预约 {booking}（{start} 至 {end}）",
    ),
    "booking_given": (
        "{by} gave you booking {booking}: {gpus} GPUs, {start} – {end}",
        "{by} 将预约 {booking} 转给了您：{gpus} 张 GPU，{start} 至 {end}",
    ),
    "booking_taken": (
        "Your booking {booking} was given away by {by} ({start} – {end})",
        "{by} 将您的预约 {booking} 转给了他人（{start} 至 {end}）",
    ),
    "booking_swap_asked": (
        "{by} asks to swap with your booking {booking} ({start} – {end})",
        "{by} 希望与您交换预约 {booking}（{start} 至 {end}）",
    ),
    "booking_swapped": (
        "Swapped with {by}: your booking {booking} is {start} – {end}",
        "已与 {by} 交换：您的预约 {booking} 为 {start} 至 {end}",
    ),
    "other": (
        "Your booking {booking} has news ({start} – {end})",
        "您的预约 {booking} 有变动（{start} 至 {end}）",
    ),
    "digest": ("{count} notices: {first}", "{count} 条通知：{first}"),
    "more": ("and {count} more", "另有 {count} 条"),
    "digest_see": (
        "See: roost notify list. What comes how: roost notify show.",
        "查看：roost notify list。通知方式：roost notify show。",
    ),
    "test": (
        "Roost: this is a test, asked for by {user}",
        "Roost：这是 {user} 发起的测试",
    ),
    "purpose": ("Purpose: {purpose}", "用途：{purpose}"),
    "rule": ("By rule: {rule}", "依据规则：{rule}"),
    "do": (
        "See: roost bookings. Give back: roost book cancel {booking}.",
        "查看：roost bookings。退还：roost book cancel {booking}。",
    ),
    "see": ("See: roost bookings.", "查看：roost bookings。"),
    "zone": ("Times are those of {zone}.", "时间均为 {zone} 时区。"),
}
