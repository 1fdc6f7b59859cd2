"""What `roost help` says of accounts: part of `cli_help`."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "user add": ("Make an account, or add to one", "创建账号，或补充已有账号"),
    "user add.more": (
        "A Linux account with a private home. The group is one of the rules: the account goes into"
        " the Linux group that its members name with @. What is there already is left; accounts of"
        " a directory (LDAP, SSSD) are used as they are. Every step is shown first.",
        "创建带私有主目录的 Linux 账号。组指规则中的组：账号会加入其成员列表里以 @ 引用的 Linux"
        " 组。已有的保持不变；目录服务（LDAP、SSSD）中的账号按现状使用。每一步都会先展示。",
    ),
    "user add.--full-name": ("the person's name", "姓名"),
    "user add.--group": ("a group of the rules", "规则中的组"),
    "user add.--ssh-key": (
        "public keys, one a line; - for standard input",
        "公钥文件，每行一个；- 表示标准输入",
    ),
    "user add.--disk-quota": ("as 500G; none for no quota", "例如 500G；none 表示不限"),
    "user add.--share": ("held against the group's share in the rules", "与规则中该组的份额核对"),
    "user import": ("Make accounts from a list, CSV or .xlsx", "按 CSV 或 .xlsx 名单创建账号"),
    "user import.more": (
        "Columns: name, full name, group, key, quota, share; heads in English or Chinese. All rows"
        " are checked before the first step.",
        "列：账号、姓名、组、公钥、配额、份额；标题可用中文或英文。所有行都检查无误后才开始执行。",
    ),
    "user list": ("The accounts of people, and archives", "查看人员账号和归档"),
    "user show": ("All about an account", "账号详情"),
    "user disable": ("Let someone in no more; delete nothing", "停用账号，不删除任何内容"),
    "user disable.more": (
        "Password locked and account expired, so that SSH keys stop too; sessions of the page,"
        " tokens and calendar feeds end at once; waiting jobs are held, running ones go on.",
        "锁定密码并使账号过期，SSH 密钥也随之失效；网页会话、令牌和日历订阅立即终止；"
        "排队作业暂缓，运行中的作业继续。",
    ),
    "user disable.--end-jobs": ("cancel all jobs of theirs", "取消其全部作业"),
    "user enable": ("Let someone in again, as before", "重新启用账号，恢复原状"),
    "user remove": ("Pack a home away, and remove the account", "归档主目录并删除账号"),
    "user remove.more": (
        "Refused while jobs or processes are alive. The archive is readable by root alone.",
        "仍有作业或进程时拒绝执行。归档仅 root 可读。",
    ),
    "user remove.--end-jobs": ("cancel all jobs of theirs first", "先取消其全部作业"),
    "user restore": ("Bring a removed account back", "恢复已删除的账号"),
}
