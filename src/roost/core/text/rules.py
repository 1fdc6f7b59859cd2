"""What is wrong with a rules file or with a span or size. `value` is the value as it was given."""

MESSAGES = {
    "at_line": ("line {line}: {sentence}", "第 {line} 行：{sentence}"),
    "not_utf8": ("the rules file is not UTF-8 text", "规则文件不是 UTF-8 文本"),
    "too_deep": ("the rules file is nested too deeply", "规则文件嵌套过深"),
    "syntax": ("this is not TOML: {detail}", "不符合 TOML 语法：{detail}"),
    "unknown": (
        "{key} is not a key that Roost knows; allowed here: {allowed}",
        "Roost 不认识 {key}；此处可用：{allowed}",
    ),
    "unknown_near": (
        "{key} is not a key that Roost knows; did you mean {near}? Allowed here: {allowed}",
        "Roost 不认识 {key}；是否想写 {near}？此处可用：{allowed}",
    ),
    "unknown_class": (
        "{key}: there is no priority class {name}; there are {allowed}",
        "{key}：没有优先级 {name}；可用：{allowed}",
    ),
    "unknown_class_near": (
        "{key}: there is no priority class {name}; did you mean {near}? There are {allowed}",
        "{key}：没有优先级 {name}；是否想写 {near}？可用：{allowed}",
    ),
    "unknown_group": (
        "{key}: there is no group {name}; groups are declared as [groups.NAME] (now: {allowed})",
        "{key}：没有组 {name}；组用 [groups.名称] 声明（现有：{allowed}）",
    ),
    "unknown_group_near": (
        "{key}: there is no group {name}; did you mean {near}? Groups are declared as"
        " [groups.NAME] (now: {allowed})",
        "{key}：没有组 {name}；是否想写 {near}？组用 [groups.名称] 声明（现有：{allowed}）",
    ),
    "one_of": (
        "{key} = {value}: must be one of {allowed}",
        "{key} = {value}：只能是 {allowed} 之一",
    ),
    "text": (
        "{key} = {value}: must be text in quotes",
        "{key} = {value}：必须是带引号的文本",
    ),
    "texts": (
        '{key} = {value}: must be a list of names, as ["alice", "@lab"]',
        '{key} = {value}：必须是名称列表，例如 ["alice", "@lab"]',
    ),
    "gpus": (
        '{key} = {value}: must be a list of GPU indices or UUIDs, as [0, "GPU-1f…"]',
        '{key} = {value}：必须是 GPU 编号或 UUID 的列表，例如 [0, "GPU-1f…"]',
    ),
    "double": ("{key}: {value} stands there twice", "{key}：{value} 重复出现"),
    "whole": (
        "{key} = {value}: must be a whole number from {least} to {most}",
        "{key} = {value}：必须是 {least} 到 {most} 之间的整数",
    ),
    "number": (
        "{key} = {value}: must be a number of at least {least}",
        "{key} = {value}：必须是不小于 {least} 的数",
    ),
    "number_above": (
        "{key} = {value}: must be a number above {least}",
        "{key} = {value}：必须是大于 {least} 的数",
    ),
    "span_least": (
        "{key} = {value}: must be at least {least}",
        "{key} = {value}：不能小于 {least}",
    ),
    "duration": (
        '{key} = {value}: must be a span of time, as "30m", "4h", "7d" or "2-12:00:00"',
        '{key} = {value}：必须是时长，例如 "30m"、"4h"、"7d" 或 "2-12:00:00"',
    ),
    "duration_without_unit": (
        '{key} = {value}: say the unit, as "30m" or "4h"',
        '{key} = {value}：请写明单位，例如 "30m" 或 "4h"',
    ),
    "duration_too_long": (
        "{key} = {value}: is longer than a hundred years",
        "{key} = {value}：超过一百年",
    ),
    "size": (
        '{key} = {value}: must be a size, as "512M", "10G" or "10GiB"',
        '{key} = {value}：必须是容量，例如 "512M"、"10G" 或 "10GiB"',
    ),
    "size_without_unit": (
        '{key} = {value}: say the unit, as "512M" or "10G"',
        '{key} = {value}：请写明单位，例如 "512M" 或 "10G"',
    ),
    "size_too_large": ("{key} = {value}: is too large", "{key} = {value}：过大"),
    "environment_directory": (
        '{key} = {value}: must be a directory of each person\'s own, "~/…" or an absolute one with'
        ' "{{user}}" as a part of it, without ".."',
        '{key} = {value}：必须是每人各自的目录："~/…"，或含有一级 "{{user}}" 的绝对路径，'
        '不能有 ".."',
    ),
    "table": (
        "{key} = {value}: must be a table, written as [{key}]",
        "{key} = {value}：必须是表，写作 [{key}]",
    ),
    "tables": (
        "{key} = {value}: must be a list of tables, each begun with [[{key}]]",
        "{key} = {value}：必须是表的列表，每项以 [[{key}]] 开头",
    ),
    "time_zone": (
        '{key} = "{value}": must be a time zone of this machine, as "Asia/Shanghai" or "UTC"',
        '{key} = "{value}"：必须是本机已知的时区，例如 "Asia/Shanghai" 或 "UTC"',
    ),
    "name": (
        '{key}: "{value}" is no name for a group: letters, digits, "_", "." and "-", up to 64',
        '{key}："{value}" 不能作组名：只能用字母、数字、"_"、"." 和 "-"，最多 64 个字符',
    ),
    "flag": (
        "{key} = {value}: must be true or false",
        "{key} = {value}：只能是 true 或 false",
    ),
    "percent": (
        "{key} = {value}: must be from 0 to 100",
        "{key} = {value}：必须在 0 到 100 之间",
    ),
    "parent_cycle": (
        "{key}: these groups are each other's parents: {cycle}; leave one parent out",
        "{key}：这些组互为上级：{cycle}；请去掉其中一个 parent",
    ),
    "dates": (
        '{key}: {value} is no date and no range of dates of up to a year, as "2026-12-25" or'
        ' "2026-10-01..2026-10-07"',
        '{key}：{value} 既不是日期，也不是一年以内的日期范围，例如 "2026-12-25" 或'
        ' "2026-10-01..2026-10-07"',
    ),
    "span": (
        '{key}: {value} is no span of time: days, times or both, as "mon-fri 20:00-08:00",'
        ' "sat,sun", "workdays 08:00-20:00", "freedays", "holidays", "daily 12:00-13:00" or'
        ' "2026-12-24..2026-12-31"',
        '{key}：{value} 不是时段：请写日子、时刻或两者，例如 "mon-fri 20:00-08:00"、"sat,sun"、'
        '"workdays 08:00-20:00"、"freedays"、"holidays"、"daily 12:00-13:00" 或'
        ' "2026-12-24..2026-12-31"',
    ),
    "span_time": (
        "{key}: {value}: times are from 00:00 to 24:00, and 24:00 only ends a span",
        "{key}：{value}：时刻应在 00:00 到 24:00 之间，且 24:00 只能作结束时刻",
    ),
    "alias": (
        '{key} = {value}: must be an account, as in "张三" = "zhangsan"',
        '{key} = {value}：必须是账号，例如 "张三" = "zhangsan"',
    ),
    "audit_place": (
        "{key} = {value}: must be the absolute path of a folder, and not /",
        "{key} = {value}：必须是目录的绝对路径，且不能是 /",
    ),
    "audit_reason": (
        "{key}: say why the team lives with it",
        "{key}：请写明接受的理由",
    ),
    "absolute_path": (
        '{key} = {value}: must be an absolute path, as in "/srv/roost/data"',
        '{key} = {value}：必须是绝对路径，例如 "/srv/roost/data"',
    ),
    "oidc_issuer": (
        "{key}: {value} is no issuer: an https address without query (http only on this machine)",
        "{key}：{value} 不是有效的 issuer：应为不带查询串的 https 地址（仅本机可用 http）",
    ),
    "oidc_client": (
        "{key}: give the client id that the provider knows this Roost by",
        "{key}：请填写在身份提供方登记的 client id",
    ),
    "oidc_secret_file": (
        "{key}: {value} must be a path that begins with /",
        "{key}：{value} 必须是以 / 开头的路径",
    ),
    "oidc_claim": (
        '{key}: {value} is no claim: as "preferred_username", "email" or "sub"',
        '{key}：{value} 不是 claim 名称：例如 "preferred_username"、"email" 或 "sub"',
    ),
    "oidc_host": (
        '{key}: {value} is no host, as "oauth2.example.org" or "login.example.org:8443"',
        '{key}：{value} 不是主机名，例如 "oauth2.example.org" 或 "login.example.org:8443"',
    ),
    "oidc_exact": (
        "{key}: an e-mail address is no account; name the accounts under [oidc.users]",
        "{key}：邮箱地址不是账号；请在 [oidc.users] 中写明对应账号",
    ),
    "slot": (
        '{key} = {value}: must be times of the day, as "08:00-12:00" or "23:00-08:00"',
        '{key} = {value}：必须是一天中的时刻，例如 "08:00-12:00" 或 "23:00-08:00"',
    ),
    "period_name": (
        '{key}: "{value}" is no name: letters, digits, "_", "." and "-", up to 64',
        '{key}："{value}" 不能作名称：只能用字母、数字、"_"、"." 和 "-"，最多 64 个字符',
    ),
    "period_reserved": (
        '{key}: "{value}" means something of its own in a span; choose another name',
        '{key}："{value}" 在时段写法中另有含义；请换一个名称',
    ),
    "period_empty": (
        '{key}: a period needs at least one span, as ["mon-fri 20:00-08:00", "freedays"]',
        '{key}：至少要写一个时段，例如 ["mon-fri 20:00-08:00", "freedays"]',
    ),
    "unknown_period": (
        "{key}: {value} names no period; periods are declared in [periods] (now: {allowed})",
        "{key}：{value} 不是已声明的时段；时段在 [periods] 中声明（现有：{allowed}）",
    ),
    "unknown_period_near": (
        "{key}: {value} names no period; did you mean {near}? Periods are declared in [periods]"
        " (now: {allowed})",
        "{key}：{value} 不是已声明的时段；是否想写 {near}？"
        "时段在 [periods] 中声明（现有：{allowed}）",
    ),
    "window_without_open": (
        '{key}: say when the window is open, as open = ["night"]',
        '{key}：请写明窗口何时开放，例如 open = ["night"]',
    ),
    "suspend_memory": (
        "{key}: say how much memory of each GPU a suspended job may keep, as suspend_memory ="
        ' "4G"; who has more goes back to the queue',
        "{key}：请用 suspend_memory 写明被暂停的作业在每块 GPU 上最多可保留多少显存，"
        '例如 suspend_memory = "4G"；超过的作业改为退回队列',
    ),
    "preempts": (
        '{key}: "{value}" is not allowed; a class may take GPUs from lower classes only: {allowed}',
        '{key}：不允许 "{value}"；只能抢占更低的优先级：{allowed}',
    ),
    "wrong_at_start": (
        "{path} cannot be used and no rules were ever in force here: nothing was started; mend it"
        " (roost rules check {path}) and start again",
        "{path} 无法使用，且此处从未有过生效的规则：未启动任何服务；请修正后"
        "（roost rules check {path}）重新启动",
    ),
    "ignore_empty": (
        "{key}: an [[ignore]] needs at least one of command, user, below",
        "{key}：[[ignore]] 至少要写 command、user、below 之一",
    ),
}
