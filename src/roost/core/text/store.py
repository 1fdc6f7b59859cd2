"""What is said when the database cannot be used."""

MESSAGES = {
    "locked": (
        "another Roost (pid {pid}) already serves the state in {where}; stop it first, or choose"
        " another folder with --state",
        "另一个 Roost（进程 {pid}）正在使用 {where} 中的数据；请先停止它，"
        "或用 --state 指定其他目录",
    ),
    "locked_database": (
        "another Roost already serves the database {where}; stop it first, or name another"
        " database or schema",
        "另一个 Roost 正在使用数据库 {where}；请先停止它，或指定其他数据库或 schema",
    ),
    "corrupt": (
        "the database {where} is damaged ({detail}); move it away and restore a backup, or start"
        " with an empty one",
        "数据库 {where} 已损坏（{detail}）；请将其移走并从备份恢复，或从空数据库重新开始",
    ),
    "foreign": (
        "{where} is not a Roost database ({detail}); choose another with --state or --database",
        "{where} 不是 Roost 的数据库（{detail}）；请用 --state 或 --database 另选一个",
    ),
    "foreign_no_sqlite": ("it is no SQLite file", "它不是 SQLite 文件"),
    "foreign_other_program": ("another program made it", "由其他程序创建"),
    "foreign_other_tables": ("it has tables of another program", "其中有其他程序的表"),
    "newer": (
        "the database {where} was made by a newer Roost (schema {schema}; this one knows up to"
        " {known}); install that version or a newer one, or restore a backup",
        "数据库 {where} 由更新版本的 Roost 创建（结构版本 {schema}，当前程序最高支持 {known}）；"
        "请安装该版本或更新版本，或从备份恢复",
    ),
    "unreachable": (
        "cannot open the database {where}: {detail}",
        "无法打开数据库 {where}：{detail}",
    ),
    "full": (
        "there is no space left for the database {where}: nothing was changed; free some disk space"
        " and try again",
        "数据库 {where} 所在磁盘已满：未做任何更改；请释放磁盘空间后重试",
    ),
    "failed": (
        "the database {where} could not be written ({detail}): nothing was changed; try again, and"
        " see the server's log if it goes on",
        "数据库 {where} 写入失败（{detail}）：未做任何更改；请重试，若仍失败请查看服务端日志",
    ),
    "bad_url": (
        "{where} is no database that Roost can use; write postgresql+psycopg://USER@HOST/NAME, or"
        " leave --database away for SQLite",
        "{where} 不是 Roost 可用的数据库；请写成 postgresql+psycopg://用户@主机/库名，"
        "或省略 --database 以使用 SQLite",
    ),
    "no_driver": (
        "PostgreSQL needs the package psycopg: install it with pip install 'roost[postgresql]'",
        "使用 PostgreSQL 需要 psycopg：请执行 pip install 'roost[postgresql]'",
    ),
}
