"""What the server says no to when somebody books, changes or gives away GPU time."""

MESSAGES = {
    "start_and_end": (
        "say when it begins, and either until when or for how long",
        "请写明开始时间，以及结束时间或时长（二选一）",
    ),
    "no_booking": (
        "there is no booking {booking}",
        "没有编号为 {booking} 的预约",
    ),
    "not_yours": (
        "booking {booking} is {user}'s: only its owner and operators may change it",
        "预约 {booking} 属于 {user}：只有本人和管理员可以更改",
    ),
    "over": (
        "booking {booking} is over ({state}): it stays as it was",
        "预约 {booking} 已结束（{state}），不能再更改",
    ),
    "begun": (
        "booking {booking} has begun: only its end can still be changed",
        "预约 {booking} 已经开始，只能更改结束时间",
    ),
    "no_room": (
        "{wanted} GPUs from {start} to {end} are not free: {free} are",
        "{start} 至 {end} 没有 {wanted} 张空闲 GPU，只有 {free} 张",
    ),
    "no_room_share": (
        "no shared GPU has so much memory left from {start} to {end}",
        "{start} 至 {end} 没有显存足够的共享 GPU",
    ),
    "gpus_booked": (
        "GPU {gpus} is not free from {start} to {end}: booking {booking} of {user}",
        "GPU {gpus} 在 {start} 至 {end} 不空闲：{user} 的预约 {booking}",
    ),
    "too_many_gpus": (
        "this server has {available} such GPUs that can be booked, not {wanted}",
        "本服务器可预约的此类 GPU 只有 {available} 张，不足 {wanted} 张",
    ),
    "none_shared": (
        "no GPU of this server is marked shared, so none can be booked by memory"
        " (rules: shared_gpus)",
        "本服务器没有共享 GPU，不能按显存预约（规则：shared_gpus）",
    ),
    "share_too_large": (
        "the largest GPU marked shared has {gib} GiB",
        "最大的共享 GPU 只有 {gib} GiB 显存",
    ),
    "no_such_gpu": (
        "there is no GPU {gpu} on this server; it has {gpus}",
        "本服务器没有 GPU {gpu}；现有：{gpus}",
    ),
    "other_server": (
        "there is no server {server} here: this is {here}",
        "这里没有服务器 {server}：本机是 {here}",
    ),
    "past": (
        "that time is over",
        "这段时间已经过去",
    ),
    "too_short": (
        "a booking lasts a minute at least, and ends after it begins",
        "预约至少一分钟，且结束时间须晚于开始时间",
    ),
    "too_long": (
        "one booking may last {limit} at most (rules: {rule})",
        "单次预约最长 {limit}（规则：{rule}）",
    ),
    "too_far": (
        "GPUs may be booked {limit} ahead at most (rules: {rule})",
        "最多提前 {limit} 预约（规则：{rule}）",
    ),
    "quota": (
        "{used} GPU hours are booked already, and {hours} are the most at once (rules: {rule})",
        "已预约 {used} GPU 小时，同时最多 {hours} GPU 小时（规则：{rule}）",
    ),
    "no_times": (
        "the repetition has no time that lies ahead",
        "该重复规则没有任何未来的时间",
    ),
    "too_many_times": (
        "that repeats more often than {most} times: give it an end",
        "重复次数超过 {most} 次：请设定结束时间",
    ),
    "repeat_part": (
        "“{part}” is no part of a rule of repetition such as FREQ=WEEKLY;BYDAY=MO,WE;COUNT=8, or"
        " stands in it twice",
        "“{part}”不是重复规则的组成部分，或出现了两次；规则例如 FREQ=WEEKLY;BYDAY=MO,WE;COUNT=8",
    ),
    "repeat_value": (
        "“{part}” cannot be read in {value}; a rule is such as"
        " FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20261224",
        "{value} 中的“{part}”无法理解；规则例如 FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20261224",
    ),
    "repeat_step": (
        "bookings repeat by FREQ=DAILY, WEEKLY, MONTHLY or YEARLY, not {part}",
        "预约按 FREQ=DAILY、WEEKLY、MONTHLY 或 YEARLY 重复，不能是 {part}",
    ),
    "repeat_both_ends": (
        "{value} has both COUNT and UNTIL: give one of them",
        "{value} 同时有 COUNT 和 UNTIL：只能给一个",
    ),
    "repeat_dateutil": (
        "{value} is no rule of repetition such as FREQ=WEEKLY;BYDAY=MO,WE ({part})",
        "{value} 不是有效的重复规则，例如 FREQ=WEEKLY;BYDAY=MO,WE（{part}）",
    ),
    "bad_day": (
        "{value} is no date such as 2026-12-24",
        "{value} 不是日期，日期例如 2026-12-24",
    ),
    "rows_clash": (
        "row {row} and row {other} of what was sent want GPU {gpus} at the same time:"
        " {start} to {end}",
        "所提交的第 {row} 行与第 {other} 行在 {start} 至 {end} 争用 GPU {gpus}",
    ),
    "not_in_batch": (
        "“{key}” cannot be given for one row of several: book that one by itself",
        "“{key}”不能对多行中的一行给出：请单独预约",
    ),
    "no_rows": (
        "none of these bookings has room",
        "这些预约都没有空位",
    ),
    "repeat_operators": (
        "only operators may repeat a booking (rules: bookings.repeat)",
        "只有管理员可以重复预约（规则：bookings.repeat）",
    ),
    "repeat_nobody": (
        "bookings may not be repeated here (rules: bookings.repeat)",
        "这里不允许重复预约（规则：bookings.repeat）",
    ),
    "not_root": (
        "root runs no jobs, so it books no GPUs: book for a person (--user), or a maintenance"
        " (--maintenance)",
        "root 不运行作业，不能预约 GPU：请为具体的人预约（--user），或预约维护（--maintenance）",
    ),
    "for_others": (
        "only operators, and who leads group {group}, may book for {user}",
        "只有管理员和组 {group} 的组长可以替 {user} 预约",
    ),
    "group_not_yours": (
        "{user} is not in group {group} (rules: groups)",
        "{user} 不属于组 {group}（规则：groups）",
    ),
    "maintenance_stays": (
        "a maintenance is nobody's to be given away",
        "维护不能转让",
    ),
    "no_swap": (
        "bookings {one} and {other} cannot be swapped: they must be two people's, and no"
        " maintenance",
        "预约 {one} 和 {other} 不能交换：须属于两个人，且不是维护",
    ),
    "bad_purpose": (
        "purpose: one line of at most {limit} characters",
        "purpose：只能是一行，最多 {limit} 个字符",
    ),
    "gpus_or_memory": (
        "give either a number of GPUs, or GPUs by name, or memory of a shared one",
        "GPU 数量、指定的 GPU、共享 GPU 的显存，三者请只给一个",
    ),
    "end_or_length": (
        "give either an end, or a duration_s",
        "end 和 duration_s 只能给一个",
    ),
}
