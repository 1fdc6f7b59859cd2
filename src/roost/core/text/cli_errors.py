"""What the command line says when the words, a file or the daemon are not as they should be."""

from __future__ import annotations

from roost.core.text.cli_env_errors import MESSAGES as ENV

MESSAGES: dict[str, tuple[str, str]] = {
    "topic_and_as": (
        "say both: --topic names what, --as how it comes (now, digest, off)",
        "--topic（内容）和 --as（方式：now、digest、off）须同时写出",
    ),
    "no_channel": (
        "there is no channel {channel} of yours: roost notify show lists them",
        "你没有渠道 {channel}：可用 roost notify show 查看",
    ),
    "data_needs_name": (
        "--name is missing: what is the data set to be called?",
        "缺少 --name：数据集叫什么名称？",
    ),
    "data_there_already": (
        "{link} is there already and is not this link: nothing is changed",
        "{link} 已存在且不是此链接：未作改动",
    ),
    "data_not_linked": ("{link} could not be made: {why}", "无法创建 {link}：{why}"),
    "data_not_ready": ("{name} is not there yet", "{name} 尚不可用"),
    "web": ("{text}", "{text}"),
    # -- the words themselves ------------------------------------------------------------------
    "unknown_command": ("there is no command {word}", "没有命令 {word}"),
    "unknown_subcommand": (
        "{command} {word}: there is no such command; there is: {choices}",
        "{command} {word}：没有这个命令；可用：{choices}",
    ),
    "missing_subcommand": ("{command} what? One of: {choices}", "{command} 之后请写：{choices}"),
    "unknown_option": ("there is no option {option}", "没有选项 {option}"),
    "did_you_mean": ("Did you mean {near}?", "是不是想写 {near}？"),
    "see_help": ("“{command} --help” lists what there is.", "输入“{command} --help”查看用法。"),
    "takes_no_value": ("{option} takes no value", "{option} 不带值"),
    "needs_value": (
        "{option} needs a value: {option} {value}",
        "{option} 需要一个值：{option} {value}",
    ),
    "book_how_long": (
        "say for how long, as --for 8h, or until when, as --until 18:00",
        "请写明时长（如 --for 8h）或结束时间（如 --until 18:00）",
    ),
    "book_by_or_until": (
        "say by how much, as --by 2h, or until when, as --until 18:00",
        "请写明延长多久（如 --by 2h）或到何时（如 --until 18:00）",
    ),
    "book_move_what": (
        "say what is to change, as --from 14:00 or -g 2",
        "请写明要改什么，如 --from 14:00 或 -g 2",
    ),
    "missing_argument": ("{argument} is missing", "缺少 {argument}"),
    "audit_fix_or_undo": ("--fix or --undo, not both", "--fix 与 --undo 只能选一个"),
    "audit_checks": (
        "to look at one check: roost audit --check {word}; CHECK goes with --fix or --undo",
        "只看一项检查请用：roost audit --check {word}；CHECK 与 --fix 或 --undo 同用",
    ),
    "extra_argument": ("one word too many: {word}", "多余的参数：{word}"),
    "not_a_choice": (
        "{what}: {given} is not one of {choices}",
        "{what}：{given} 不在可选范围 {choices} 之内",
    ),
    "not_a_number": ("{option}: {given} is not a whole number", "{option}：{given} 不是整数"),
    "not_positive": ("{option}: {given} is not 1 or more", "{option}：{given} 必须不小于 1"),
    "not_a_size": (
        "{option}: {given} is not a size; write 16G, 512M or 1.5T (with its unit, powers of 1024)",
        "{option}：{given} 不是容量；请写 16G、512M 或 1.5T（要带单位，按 1024 进位）",
    ),
    "not_a_duration": (
        "{option}: {given} is not a length of time; write 90m, 4h, 1d12h or 2:30:00",
        "{option}：{given} 不是时长；请写 90m、4h、1d12h 或 2:30:00",
    ),
    "not_seconds": (
        "{option}: {given} is not a number of seconds from 0.1 to 86400",
        "{option}：{given} 不是 0.1 到 86400 之间的秒数",
    ),
    "not_a_job": ("{given} is not a job's number", "{given} 不是作业号"),
    "not_a_gpu": (
        "{given} is not a GPU: write its index (0, 1 …) or its UUID (GPU-…)",
        "{given} 不是 GPU：请写序号（0、1 …）或 UUID（GPU-…）",
    ),
    "not_a_user": ("{given!r} is not an account's name", "{given!r} 不是账号名"),
    "not_an_array": (
        "{option}: {given} is not an array; write 0-9, 1,3,7, 0-99:10 or 0-9%2 (two at once)",
        "{option}：{given} 不是数组；请写 0-9、1,3,7、0-99:10 或 0-9%2（同时最多 2 个）",
    ),
    "array_too_large": (
        "{option}: {given} is {jobs} jobs; nobody may queue that many at once",
        "{option}：{given} 共 {jobs} 个作业，超过一次可排队的数量",
    ),
    "not_a_signal": (
        "{option}: {given} is not a signal that a job can catch; write USR1 or USR1@60",
        "{option}：{given} 不是作业能捕获的信号；请写 USR1 或 USR1@60",
    ),
    "not_a_path": ("{option}: not a path", "{option}：不是路径"),
    "not_a_time": (
        "{option}: {given} is not a time; write 18:00, “tomorrow 9:00”, +2h or 2026-12-03T09:00",
        "{option}：{given} 无法识别为时间；请写 18:00、“明天 9:00”、+2h 或 2026-12-03T09:00",
    ),
    "time_is_past": ("{option}: {given} is already past", "{option}：{given} 已经过去"),
    "either_or": ("{one} and {other} exclude each other", "{one} 与 {other} 不能同时使用"),
    # -- submitting ----------------------------------------------------------------------------
    "no_such_directory": (
        "the directory {path} does not exist: the job could not start there",
        "目录 {path} 不存在，作业无法在其中启动",
    ),
    "not_a_directory": ("{path} is not a directory", "{path} 不是目录"),
    "no_right_to_directory": ("no right to enter the directory {path}", "无权进入目录 {path}"),
    "directory_gone": (
        "the directory that you are in is gone; cd to one that exists, or name one with --chdir",
        "当前目录已不存在；请 cd 到存在的目录，或用 --chdir 指定",
    ),
    "no_such_command": (
        "{command}: no such command in PATH or in {directory}",
        "{command}：在 PATH 和 {directory} 中都找不到这个命令",
    ),
    "command_is_here": (
        "{command}: no such command in PATH, but a file here: write ./{command}",
        "{command}：PATH 中没有这个命令，但当前目录有这个文件：请写 ./{command}",
    ),
    "no_such_program": ("{command}: no such file", "{command}：没有这个文件"),
    "program_is_directory": (
        "{command} is a directory, not a program",
        "{command} 是目录，不是程序",
    ),
    "not_executable": (
        "{command} has no right to execute: chmod +x {command},"
        " or roost run {command} (as a script)",
        "{command} 没有执行权限：请 chmod +x {command}，或用 roost run {command}（作为脚本提交）",
    ),
    "not_executable_program": (
        "{command} has no right to execute and no #! line; name its interpreter:"
        " roost run -- python {command}",
        "{command} 没有执行权限，也没有 #! 行；请写出解释器：roost run -- python {command}",
    ),
    "script_without_interpreter": (
        "{path} does not begin with #!: to run it as a command write"
        " roost run -- INTERPRETER {path}",
        "{path} 没有以 #! 开头：要作为命令运行，请写 roost run -- 解释器 {path}",
    ),
    "script_too_large": (
        "{path} has {bytes} bytes; a script may have {limit}: put the work in files, and call them",
        "{path} 有 {bytes} 字节；脚本上限是 {limit}：请把内容放进文件再调用",
    ),
    "command_too_large": (
        "the command has {bytes} bytes; the limit is {limit}: put the arguments in a file",
        "命令共 {bytes} 字节，上限是 {limit}：请把参数放进文件",
    ),
    "argument_too_large": (
        "one argument has {bytes} bytes; Linux starts no program with one above {limit}:"
        " put it in a file",
        "有一个参数长 {bytes} 字节；Linux 无法用超过 {limit} 的参数启动程序：请放进文件",
    ),
    "environment_too_large": (
        "the environment has {bytes} bytes; the limit is {limit}; the largest variable is {name}",
        "环境变量共 {bytes} 字节，上限是 {limit}；最大的是 {name}",
    ),
    "name_too_long": (
        "--name has {characters} characters; the limit is {limit}",
        "--name 有 {characters} 个字符，上限是 {limit}",
    ),
    "bad_directive": ("{path} line {line}: {text}", "{path} 第 {line} 行：{text}"),
    "bad_quotes": ("a quote is not closed", "引号没有闭合"),
    "bad_env_file": (
        "{path} line {line}: not NAME=VALUE",
        "{path} 第 {line} 行：不是 NAME=VALUE",
    ),
    "pty_needs_terminal": (
        "--pty needs a terminal on standard input",
        "--pty 要求标准输入是终端",
    ),
    "array_cannot": ("{option} does not go with --array", "{option} 不能与 --array 同用"),
    "attach_failed": (
        "job {job} runs, but its terminal cannot be reached: {text}",
        "作业 {job} 在运行，但连不上它的终端：{text}",
    ),
    # -- the daemon ----------------------------------------------------------------------------
    "no_daemon": (
        "no Roost daemon at {path}; start it with “roost serve”, or name another with --socket",
        "{path} 没有 Roost 守护进程；请用“roost serve”启动，或用 --socket 指定",
    ),
    "daemon_gone": (
        "no Roost daemon at {path} (a socket is there, but nothing answers);"
        " start it with “roost serve”",
        "{path} 没有 Roost 守护进程（套接字还在，但没有应答）；请用“roost serve”启动",
    ),
    "socket_permission": ("no right to open {path}", "无权打开 {path}"),
    "answer_lost": (
        "the daemon went away before it answered: it may have done this or not; look before you"
        " try again (roost jobs)",
        "守护进程未及应答就中断了：操作可能已执行，也可能没有；请先用 roost jobs 查看再重试",
    ),
    "timeout": (
        "the daemon at {path} does not answer in time",
        "{path} 的守护进程没有及时应答",
    ),
    "not_http": ("what listens at {path} is not Roost", "在 {path} 监听的不是 Roost"),
    "fault": (
        "this is a fault in Roost; please report it with the lines above",
        "这是 Roost 的缺陷，请附上以上内容提交报告",
    ),
    # -- files and answers ---------------------------------------------------------------------
    "no_output_yet": (
        "job {job} has written nothing yet: {state}",
        "作业 {job} 还没有输出：{state}",
    ),
    "no_output_file": (
        "job {job} has no output file: {text}",
        "作业 {job} 没有输出文件：{text}",
    ),
    "no_regular_file": (
        "it is no regular file",
        "它不是普通文件",
    ),
    "output_unreadable": (
        "{path}: {text}; it is read with your own rights, and belongs to {user}",
        "{path}：{text}；输出以你自己的权限读取，它属于 {user}",
    ),
    "nothing_confirmed": (
        "standard input is no terminal: say --yes to end these without being asked",
        "标准输入不是终端，无法询问；要直接结束请加 --yes",
    ),
    "steps_unconfirmed": (
        "standard input is no terminal: say --yes to do these steps without being asked",
        "标准输入不是终端，无法询问；要直接执行请加 --yes",
    ),
    "private_key": (
        "{path} holds a private key, which nobody but its owner should have; give the .pub file",
        "{path} 是私钥，除本人外不应有人持有；请给出 .pub 文件",
    ),
    "no_account": ("there is no account {user}, and no archive", "没有账号 {user}，也没有其归档"),
    "rules_file_missing": ("{path} does not exist", "{path} 不存在"),
    "rules_wrong": ("{path}: mistakes: {count}", "{path}：{count} 处错误"),
    # -- serving -------------------------------------------------------------------------------
    "already_served": (
        "another Roost daemon serves {path} (pid {pid}); stop it first, or name another --state",
        "{path} 已由另一个 Roost 守护进程使用（pid {pid}）；请先停止它，或用 --state 指定别处",
    ),
    "socket_path_too_long": (
        "the socket's path {path} has {bytes} bytes; Linux allows {limit}: name a shorter --socket",
        "套接字路径 {path} 长 {bytes} 字节，Linux 只允许 {limit}：请用 --socket 指定更短的",
    ),
    "socket_taken": (
        "{path} is already answered by a daemon; stop it first, or name another --socket",
        "{path} 已有守护进程应答；请先停止它，或用 --socket 指定别处",
    ),
    "not_a_socket": (
        "{path} is there and is no socket; name another --socket",
        "{path} 已存在且不是套接字；请用 --socket 另行指定",
    ),
    "cannot_write_state": ("cannot write {path}: {text}", "无法写入 {path}：{text}"),
    "needs_root": ("only root may do this", "只有 root 可以执行"),
    "no_useradd": (
        "useradd is not installed, so the system user roost cannot be made: make it, try again",
        "没有 useradd，无法建立系统用户 roost：请先建立它再试",
    ),
    "useradd_failed": (
        "useradd could not make the system user roost: {text}",
        "useradd 未能建立系统用户 roost：{text}",
    ),
    "child_gave_up": (
        "the {part} could not start ({how}): see its lines above",
        "{part} 无法启动（{how}）：请看上面它的输出",
    ),
    "folder_not_root": (
        "{path} does not belong to root: whoever owns it could change the daemon's files;"
        " name another with --state or --socket",
        "{path} 不属于 root：它的所有者可以改动守护进程的文件；请用 --state 或 --socket 另行指定",
    ),
    "folder_of_system": (
        "{path} is a folder of the system, which the server may not write to; name one of Roost's"
        " own with --state or --socket",
        "{path} 是系统目录，server 不能写入；请用 --state 或 --socket 指定 Roost 自己的目录",
    ),
    "command_failed": ("{command}: {text}", "{command}：{text}"),
    "python_unreadable": (
        "the server gives up its rights and runs as {user}, who cannot read {path}: install Roost"
        " where every account can read it (/opt, /usr/local), or open the folders above it",
        "server 会放弃 root 权限，以 {user} 身份运行，而 {user} 无法读取 {path}："
        "请把 Roost 安装到所有账号可读的位置（/opt、/usr/local），或放开上级目录的权限",
    ),
    "part_missing": ("this installation has no {part}", "此安装没有 {part}"),
    # -- replay --------------------------------------------------------------------------------
    "replay_no_servers": (
        "on what servers? Write for example --servers 4x8: four of eight GPUs each",
        "在哪些服务器上重放？例如写 --servers 4x8，表示四台八卡",
    ),
    "not_a_past": (
        "{option}: {given} is no time of the past; write 30d, 12h or 2026-11-01",
        "{option}：{given} 不是过去的时间；请写 30d、12h 或 2026-11-01",
    ),
    "no_history": (
        "nothing that ran here (--since {since}) can be replayed; look further back with --since,"
        " or wait until jobs have ended",
        "没有可以重放的作业（--since {since}）；请用 --since 看得更早，或等有作业结束后再试",
    ),
    "no_gpus_seen": (
        "the daemon has not seen any GPU yet to replay on; ask again when roost status shows them",
        "守护进程尚未发现任何 GPU，无法重放；等 roost status 能显示 GPU 后再试",
    ),
    "daemon_too_old": (
        "the daemon is Roost {daemon}, which does not tell its history yet; update and restart it",
        "守护进程是 Roost {daemon}，尚不能提供历史；请升级并重启它",
    ),
    "rules_newer": (
        "the rules in force (version {version}) are of a newer Roost than this command; update it",
        "当前规则（版本 {version}）属于更新的 Roost，此命令无法读取；请升级",
    ),
    # -- spreadsheets --------------------------------------------------------------------------
    "not_a_year": ("{option}: {given} is not a year", "{option}：{given} 不是年份"),
    "sheet_no_file": (
        "{path} is no file; name an .xlsx or .csv file, or - for standard input",
        "{path} 不是文件；请给出 .xlsx 或 .csv 文件，或用 - 表示标准输入",
    ),
    "sheet_empty": ("{path} is empty", "{path} 是空的"),
    "sheet_large": (
        "{path} has more than {most} MiB; take what is not bookings out of it, or save it as CSV",
        "{path} 超过 {most} MiB；请删去与预约无关的内容，或另存为 CSV",
    ),
    "sheet_many": (
        "{path} holds more than {cells} filled cells, or some beyond row {rows} or column"
        " {columns}; import the part that is still ahead",
        "{path} 的非空单元格超过 {cells} 个，或超出 {rows} 行、{columns} 列；"
        "请只导入尚未到期的部分",
    ),
    "sheet_bomb": (
        "{path} would unpack to more than {most} MiB; save it anew with a spreadsheet program",
        "{path} 解压后超过 {most} MiB；请用表格软件重新保存",
    ),
    "sheet_entities": (
        "{path} declares a document type, which no spreadsheet program writes: not read",
        "{path} 含有文档类型声明，表格软件不会这样写：不予读取",
    ),
    "sheet_broken": (
        "{path} is no whole .xlsx file ({text}); open it in a spreadsheet program and save it anew",
        "{path} 不是完整的 .xlsx 文件（{text}）；请用表格软件打开后重新保存",
    ),
    "sheet_locked": (
        "{path} is protected by a password; save it without one",
        "{path} 有密码保护；请去掉密码后保存",
    ),
    "sheet_old": (
        "{path} is of the old format (.xls) or protected by a password; save it as .xlsx"
        " without one",
        "{path} 是旧格式（.xls）或有密码保护；请另存为不带密码的 .xlsx",
    ),
    "sheet_other": (
        "{path} is of another spreadsheet program; save it as .xlsx or CSV",
        "{path} 是其他表格软件的格式；请另存为 .xlsx 或 CSV",
    ),
    "sheet_kind": (
        "{path} is neither .xlsx nor CSV",
        "{path} 既不是 .xlsx 也不是 CSV",
    ),
    "sheet_encoding": (
        "{path} is text in neither UTF-8, UTF-16 nor GB18030; save it as CSV UTF-8",
        "{path} 的编码不是 UTF-8、UTF-16 或 GB18030；请另存为 UTF-8 编码的 CSV",
    ),
    "sheet_csv": (
        "{path}: line {row} is no CSV ({text}); look for a quote that is never closed",
        "{path}：第 {row} 行不符合 CSV 格式（{text}）；请检查是否有未闭合的引号",
    ),
    "sheet_ending": (
        "{path}: name a file that ends in .xlsx or .csv, or - for CSV on standard output",
        "{path}：文件名请以 .xlsx 或 .csv 结尾，或用 - 把 CSV 写到标准输出",
    ),
    "one_of_these": ("only one of {options}", "{options} 只能选一个"),
    "sheet_unread": ("{path}: {text}", "{path}：{text}"),
    "sheet_not_all": (
        "nothing is imported. Rows that cannot be taken over: {count}; the first, {where}: {text}."
        " --dry-run shows each; --yes imports without them",
        "没有导入任何内容：有 {count} 行无法导入（{where}：{text}）。--dry-run 逐条列出；"
        "--yes 略过它们导入其余的",
    ),
    "sheet_no_account": ("there is no account {name}", "没有账号 {name}"),
    "sheet_other_server": ("server {name} is not this daemon's", "服务器 {name} 不归本守护进程管"),
    "sheet_nothing": ("{path}: nothing in it can be imported", "{path}：没有可导入的内容"),
    "sheet_row": (
        "nothing is imported. {where}: {text}",
        "没有导入任何内容。{where}：{text}",
    ),
    "sheet_clash": (
        "nothing is imported: {where} ({user}) and {other} ({second}) want GPU {gpus} at the same"
        " time; --skip-conflicts imports without {where}",
        "没有导入任何内容：{where}（{user}）与 {other}（{second}）在同一时间争用 GPU {gpus}；"
        "--skip-conflicts 略过 {where} 导入其余的",
    ),
    "replay_said": ("{text}", "{text}"),
    "replay_trace": ("{path}: {text}", "{path}：{text}"),
    **ENV,
}
