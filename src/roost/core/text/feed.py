"""What calendar feeds say: the titles of bookings, and what is refused."""

MESSAGES = {
    "mine": ("GPU {gpus}", "GPU {gpus}"),
    "theirs": ("{user}: GPU {gpus}", "{user}：GPU {gpus}"),
    "maintenance": ("Maintenance: GPU {gpus}", "维护：GPU {gpus}"),
    "description": (
        "Booking {booking} of {user} ({group}) on {server}",
        "{server} 上 {user}（{group}）的预约 {booking}",
    ),
    "name_mine": ("GPU bookings of {user}", "{user} 的 GPU 预约"),
    "name_gpu": ("GPU {gpu} on {server}", "{server} 的 GPU {gpu}"),
    "name_group": ("GPU bookings of {group}", "{group} 的 GPU 预约"),
    "name_all": ("GPU bookings on {server}", "{server} 的 GPU 预约"),
    "no_feed": (
        "there is no calendar at this address: it was revoked, or the address is not whole; make a"
        " new one with `roost book feed`",
        "此地址没有日历：可能已吊销，或地址不完整；请用 `roost book feed` 新建",
    ),
    "too_often": (
        "this calendar was asked for too often: ask again in {wait_s} seconds",
        "读取此日历过于频繁：请在 {wait_s} 秒后重试",
    ),
    "no_such_feed": ("there is no feed {id} of yours", "你没有编号为 {id} 的日历订阅"),
    "too_many_feeds": (
        "{user} has {limit} feeds: revoke some first",
        "{user} 已有 {limit} 个日历订阅：请先吊销一些",
    ),
    "no_gpu_named": (
        "say which GPU: a feed of one takes its index or UUID",
        "请指明 GPU：单卡订阅需要序号或 UUID",
    ),
    "no_gpu": ("there is no GPU {gpu} here", "这里没有 GPU {gpu}"),
    "no_group": ("there is no group {group}", "没有组 {group}"),
}
