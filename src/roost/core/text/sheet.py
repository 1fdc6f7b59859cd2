"""What is said of a spreadsheet of bookings: why a row was not understood, how it was read."""

_EN_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_EN_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

MESSAGES = {
    **{f"month.{n}": (name, f"{n} 月") for n, name in enumerate(_EN_MONTHS, 1)},
    **{f"weekday.{n}": (name, f"周{'一二三四五六日'[n]}") for n, name in enumerate(_EN_DAYS)},
    "at": ("{where}: {text}", "{where}：{text}"),
    "row": ("row {row}", "第 {row} 行"),
    "cell": ("cell {cell}", "单元格 {cell}"),
    "of_page": ("{page}, {where}", "{page}，{where}"),
    "no_name": ("no name", "没有姓名"),
    "no_date": ("'{text}' is no date", "“{text}”不是日期"),
    "no_date_at_all": ("no date", "没有日期"),
    "no_day": (
        "neither its row nor its column has a date",
        "所在的行和列都没有日期",
    ),
    "no_time": ("'{text}' is no time", "“{text}”不是时间"),
    "no_times": ("no time", "没有时间"),
    "no_end": ("no end time", "没有结束时间"),
    "no_length": ("'{text}' ends when it begins", "“{text}”的结束与开始相同"),
    "ends_before": (
        "it ends ({end}) before it begins ({start})",
        "结束（{end}）早于开始（{start}）",
    ),
    "too_long": ("it is longer than a year", "时长超过一年"),
    "no_duration": (
        "'{text}' is no duration; write 8h or 2 days",
        "“{text}”不是时长；请写成 8小时 或 2天",
    ),
    "no_such_day": ("there is no {day} {month}", "{month}没有 {day} 日"),
    "no_leap_day": ("there is no 29 February {year}", "{year} 年没有 2 月 29 日"),
    "other_weekday": (
        "'{text}': {day} is a {weekday}",
        "“{text}”：{day} 是{weekday}",
    ),
    "two_days": (
        "'{text}' may be {one} or {other}; write the date in full, or say --dates mdy or dmy",
        "“{text}”可能是 {one} 或 {other}；请写出完整日期，或用 --dates mdy 或 dmy 指明",
    ),
    "number_date": (
        "{text} is a number, which may have lost a zero; write the date in full",
        "{text} 是数值，可能丢了末尾的零；请写出完整日期",
    ),
    "two_times": (
        "'{text}' may be {start} to {day}, or to {night} of the next day; write all 24 hours",
        "“{text}”可能是 {start} 到 {day}，也可能到次日 {night}；请用 24 小时制书写",
    ),
    "which_half": (
        "'{text}' does not say which half of the day",
        "“{text}”没有说明是上半天还是下半天",
    ),
    "no_week": (
        "'{text}' is no date: the sheet does not say of which week",
        "“{text}”不是日期：表中没有说明是哪一周",
    ),
    "no_month": (
        "'{text}' is no date: the sheet does not say of which month",
        "“{text}”不是日期：表中没有说明是几月",
    ),
    "skipped_hour": (
        "there is no {time}: the clocks are put forward",
        "不存在 {time}：当时时钟拨快",
    ),
    "no_gpus": ("no GPUs", "没有写 GPU"),
    "gpus_unread": (
        "'{text}' names no GPUs; write 0,1 or 2-5, 4 GPUs, or all",
        "“{text}”不是 GPU；请写 0,1 或 2-5、4卡、全部",
    ),
    "gpus_number": (
        "{text} is no GPU; a comma may have been taken for a decimal point: write '0,1' as text",
        "{text} 不是 GPU 编号；逗号可能被当成了小数点：请把“0,1”写成文本",
    ),
    "gpus_date": (
        "the spreadsheet made a date ({text}) of the GPUs; write 2~5, or format the cell as text",
        "表格软件把 GPU 编号变成了日期（{text}）；请写成 2~5，或把单元格设为文本",
    ),
    "gpus_backwards": ("'{text}' runs backwards", "“{text}”前后颠倒"),
    "gpus_many": ("there are no {number} GPUs", "没有 {number} 块 GPU"),
    "no_such_gpu": (
        "this server has GPUs 0-{last}, not {numbers}",
        "本服务器的 GPU 为 0-{last}，没有 {numbers}",
    ),
    "no_such_gpu_of": (
        "{server} has GPUs 0-{last}, not {numbers}",
        "{server} 的 GPU 为 0-{last}，没有 {numbers}",
    ),
    "not_so_many": (
        "this server has {most} GPUs, not {count}",
        "本服务器有 {most} 块 GPU，不足 {count} 块",
    ),
    "not_so_many_of": (
        "{server} has {most} GPUs, not {count}",
        "{server} 有 {most} 块 GPU，不足 {count} 块",
    ),
    "several_servers": (
        "the merged cell runs over several servers",
        "合并单元格跨了多台服务器",
    ),
    "apart": (
        "the merged cell runs over times that do not touch",
        "合并单元格跨了不相连的时段",
    ),
    "nobody": (
        "'{text}' is no person; an operator books maintenance with roost book",
        "“{text}”不是人名；维护时段由管理员用 roost book 预约",
    ),
    "gpu_taken": (
        "GPU {gpus} is taken by {user} until {until}",
        "GPU {gpus} 已由 {user} 占用至 {until}",
    ),
    "gpus_taken": (
        "GPUs {gpus} are taken by {user} until {until}",
        "GPU {gpus} 已由 {user} 占用至 {until}",
    ),
    "server_taken": (
        "the server is taken by {user} until {until}",
        "该服务器已由 {user} 占用至 {until}",
    ),
    "repeated": ("the same as row {row}", "与第 {row} 行相同"),
    "uncomputed": (
        "a formula whose value was not saved; open the file in a spreadsheet program and save it",
        "公式的值没有保存；请用表格软件打开该文件并重新保存",
    ),
    "merged_many": (
        "its merged cells cover more than {most} cells; unmerge what is empty",
        "合并单元格覆盖超过 {most} 个单元格；请取消空白处的合并",
    ),
    "nothing_read": (
        "no bookings are to be seen: a list needs a row that names its columns (Name, GPU, Start,"
        " End), a grid needs GPUs (GPU0, GPU1 …) along one side and dates along another",
        "看不出预约：列表需要一行列名（姓名、GPU、开始时间、结束时间），"
        "网格需要一边是 GPU（GPU0、GPU1……）、另一边是日期",
    ),
    "struck": ("struck out: left out", "已划掉：不导入"),
    "cancelled": ("cancelled: left out", "已取消：不导入"),
    "alone": ("only '{text}' stands there: left out", "只有“{text}”：不导入"),
    "blank": ("blank", "空白"),
    "section": ("what follows is of {server}", "以下属于 {server}"),
    "column_aside": (
        "the column '{head}' is no GPU and no date: not read",
        "“{head}”列既不是 GPU 也不是日期：未读取",
    ),
    "page_aside": (
        "no bookings are to be seen on this sheet: not read",
        "此工作表看不出预约：未读取",
    ),
}
