"""What `roost help` says of bookings: part of `cli_help`."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "book": (
        "Book GPUs for a time",
        "预约一段时间的 GPU",
    ),
    "book.more": (
        "Who books has the GPUs from then until the end by right: their jobs start on them before"
        " the queue. The server chooses the GPUs, so that free room stays in large pieces, unless"
        " --gpu names them. Times as 18:00, tomorrow 9:00, fri 14:00, 2026-12-24 09:00. Where"
        " there is no room, it says what is free instead.",
        "预约期间 GPU 归预约人：其作业优先于队列直接启动。除非用 --gpu 指定，由服务器挑选 GPU，"
        "尽量保留成片的空闲。时间可写 18:00、明天 9:00、周五 14:00、2026-12-24 09:00。"
        "没有空位时，会给出最近的替代方案。",
    ),
    "book.--gpus": ("so many GPUs (default 1)", "GPU 数量（默认 1）"),
    "book.--gpu": ("this GPU, by index or UUID; again for more", "指定 GPU（序号或 UUID），可重复"),
    "book.--gpu-mem": ("so much memory of a shared GPU", "共享 GPU 上的显存"),
    "book.--from": ("when it begins (default: now)", "开始时间（默认现在）"),
    "book.--until": ("when it ends", "结束时间"),
    "book.--for": ("for how long, in place of --until", "时长，代替 --until"),
    "book.--purpose": (
        "what for; seen by you, your leads and operators",
        "用途；本人、组长和管理员可见",
    ),
    "book.--public": ("let everybody see the purpose", "用途对所有人公开"),
    "book.--maintenance": (
        "nobody's job runs on them then (operators only)",
        "维护：期间任何作业都不在其上运行（仅管理员）",
    ),
    "book.--wait": (
        "where there is no room, wait for it on the list",
        "没有空位时，排入候补",
    ),
    "book.--dry-run": ("say what would be booked, and book nothing", "只显示将预约什么，不预约"),
    "book cancel": (
        "Cancel bookings, or give back what is left of them",
        "取消预约，或提前归还剩余时间",
    ),
    "book.--repeat": (
        "again and again, by a rule of RFC 5545: FREQ=WEEKLY;BYDAY=MO,WE;COUNT=8",
        "按 RFC 5545 规则重复：FREQ=WEEKLY;BYDAY=MO,WE;COUNT=8",
    ),
    "book.--except": ("of a series, not on that day", "系列中不含这一天，可重复"),
    "book.--skip": (
        "of a series, leave out what has no room",
        "系列中没有空位的略过",
    ),
    "book.--user": ("for somebody else (operators, leads)", "替别人预约（管理员、组长）"),
    "book.--group": ("charge this group", "记在这个组名下"),
    "book cancel.--series": ("and all that follow it", "以及同系列的后续预约"),
    "book end": ("Give back what is left of bookings", "提前归还预约"),
    "book extend": ("Make a booking longer, or shorter", "延长或缩短预约"),
    "book extend.--by": ("so much longer", "延长多久"),
    "book extend.--until": ("until then, later or earlier than before", "到何时结束，可晚可早"),
    "book move": (
        "Give a booking another time or other GPUs",
        "改预约的时间或 GPU",
    ),
    "book move.--from": ("when it begins; it stays as long as it is", "开始时间，时长不变"),
    "book move.--until": ("when it ends", "结束时间"),
    "book move.--for": ("for how long", "时长"),
    "book move.--gpus": ("so many GPUs", "GPU 数量"),
    "book move.--gpu": ("this GPU; again for more", "指定 GPU，可重复"),
    "book move.--purpose": ("what for", "用途"),
    "book move.--dry-run": ("say what would be, and change nothing", "只显示结果，不更改"),
    "book give": ("Hand a booking over to somebody", "把预约转让给别人"),
    "book swap": (
        "Swap a booking with another person's, once both have asked",
        "与别人交换预约，双方都提出后生效",
    ),
    "bookings": ("List bookings from now on, or show some", "列出现在和以后的预约，或显示指定的"),
    "bookings.--user": ("of one person", "某人的"),
    "book import": (
        "Take over the bookings of a spreadsheet (.xlsx, .csv)",
        "导入表格（.xlsx、.csv）里的预约",
    ),
    "book import.more": (
        "Reads lists (a booking a row) and grids (names in cells of GPUs, days and slots), with"
        " columns named in English or Chinese. --dry-run shows what was understood and what not."
        " All is imported in one transaction; where a row could not be read, nothing until --yes"
        " says to go on without it. Names that are no accounts go into [bookings.aliases] of the"
        " rules.",
        "可读列表（每行一个预约）和网格（姓名填在 GPU、日期、时段的格子里），列名中英文均可。"
        "--dry-run 只显示读懂了什么、没读懂什么。导入在一个事务里完成；有读不懂的行时，"
        "加 --yes 才会略过它们导入其余的。不是账号的姓名请写入规则的 [bookings.aliases]。",
    ),
    "book import.--dry-run": ("show how it was read, and import nothing", "只显示读取结果，不导入"),
    "book import.--server": (
        "the server meant where the sheet names none",
        "表中没写服务器时，指这一台",
    ),
    "book import.--year": (
        "of dates without a year (the nearest that fits)",
        "没写年份的日期属于哪一年（默认取最近且相符的）",
    ),
    "book import.--dates": (
        "2/12 is 12 February (mdy) or 2 December (dmy)",
        "2/12 是 2 月 12 日（mdy）还是 12 月 2 日（dmy）",
    ),
    "book import.--skip-conflicts": (
        "import without the rows whose GPUs are booked by others, or by a row above",
        "略过 GPU 已被他人或前面的行占用的行，导入其余的",
    ),
    "book import.--yes": (
        "import without rows that could not be read, or are of nobody here or another server",
        "略过读不懂的、不是本机账号的、其他服务器的行，导入其余的",
    ),
    "book export": (
        "Write bookings to a spreadsheet (.xlsx, .csv)",
        "把预约写入表格（.xlsx、.csv）",
    ),
    "book export.more": (
        "One booking a row, with the columns that roost book import takes back. FILE - is CSV on"
        " standard output. No cell is a formula, whatever its purpose says.",
        "每行一个预约，列与 roost book import 相同，可原样导回。FILE 为 - 时把 CSV 写到标准输出。"
        "无论用途写了什么，都不会成为公式。",
    ),
    "book export.--from": ("from this day or time on (today)", "从该日期或时刻起（默认今天）"),
    "book export.--to": (
        "up to this day or time, not included (90 days later)",
        "到该日期或时刻为止，不含（默认 90 天后）",
    ),
    "book feed": (
        "A secret address to subscribe to bookings at",
        "生成供日历软件订阅预约的秘密地址",
    ),
    "book feed.more": (
        "Of your own bookings, or of one GPU, a group, or everybody. Who knows the address reads"
        " what you may read; --revoke ends it at once.",
        "可订阅自己的、某张 GPU 的、某个组的或所有人的预约。知道地址的人能看到你能看到的内容；"
        "--revoke 立即吊销。",
    ),
    "book feed.--gpu": (
        "everybody's bookings of this GPU (index or UUID)",
        "这张 GPU（序号或 UUID）上所有人的预约",
    ),
    "book feed.--group": ("of everybody in this group", "这个组所有人的预约"),
    "book feed.--all": ("everybody's", "所有人的预约"),
    "book feed.--list": ("list your feeds, without their addresses", "列出你的订阅（不含地址）"),
    "book feed.--revoke": ("end this feed", "吊销这个订阅"),
}
