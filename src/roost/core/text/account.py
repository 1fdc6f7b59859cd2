"""What is said of accounts: the steps, what they leave as it is, what is wrong and what to do."""

MESSAGES = {
    # -- steps
    "step_create": (
        "create the account {user}, home {home} (0700){full_name}",
        "创建账号 {user}，主目录 {home}（0700）{full_name}",
    ),
    "step_group": ("create the Linux group {group}", "创建 Linux 组 {group}"),
    "step_join": (
        "put {user} into the Linux group {group} (group {text} of the rules)",
        "将 {user} 加入 Linux 组 {group}（规则中的 {text} 组）",
    ),
    "step_full_name": (
        "set the full name of {user} to “{text}” (was “{before}”)",
        "将 {user} 的姓名改为“{text}”（原为“{before}”）",
    ),
    "step_private": (
        "make {home} private: 0700 (was {before})",
        "将 {home} 设为私有：0700（原为 {before}）",
    ),
    "step_key": (
        "let {user} sign in with the SSH key {key}",
        "允许 {user} 用 SSH 公钥 {key} 登录",
    ),
    "step_quota": (
        "set the disk quota of {user} to {size} (was {before})",
        "将 {user} 的磁盘配额设为 {size}（原为 {before}）",
    ),
    "step_disable": (
        "disable the account {user}: password locked, account expired, so that SSH keys stop too",
        "停用账号 {user}：锁定密码并使账号过期，SSH 密钥也随之失效",
    ),
    "step_enable": (
        "enable the account {user}: password and expiry as they were before",
        "启用账号 {user}：密码和有效期恢复原状",
    ),
    "step_archive": (
        "pack {home} of {user} into {text}, readable by root alone, with a checksum",
        "将 {user} 的 {home} 打包到 {text}，仅 root 可读，并记录校验和",
    ),
    "step_archive_bare": (
        "keep what is known of {user} in {text}; there is no home to pack",
        "将 {user} 的账号信息保存到 {text}；没有主目录需要打包",
    ),
    "step_remove": (
        "remove the account {user} (uid {uid}) and {home}",
        "删除账号 {user}（uid {uid}）和 {home}",
    ),
    "step_remove_bare": ("remove the account {user} (uid {uid})", "删除账号 {user}（uid {uid}）"),
    "step_restore": (
        "bring back the account {user} (uid {uid}) with {home} from {text}",
        "从 {text} 恢复账号 {user}（uid {uid}）和 {home}",
    ),
    "step_put_out": (
        "end what lets {user} in: {sessions} sessions of the page, {tokens} tokens, {feeds}"
        " calendar feeds",
        "终止 {user} 的访问凭证：网页会话 {sessions} 个、令牌 {tokens} 个、日历订阅 {feeds} 个",
    ),
    "step_hold": (
        "hold the waiting jobs of {user}: {numbers}",
        "暂缓 {user} 的排队作业：{numbers}",
    ),
    "step_release": (
        "release the jobs of {user} that were held then: {numbers}",
        "放行 {user} 当时被暂缓的作业：{numbers}",
    ),
    "step_end": ("cancel the jobs of {user}: {numbers}", "取消 {user} 的作业：{numbers}"),
    "step_unbook": ("cancel the bookings of {user}: {numbers}", "取消 {user} 的预约：{numbers}"),
    "without_quota": ("none", "无"),
    # -- what is left as it is
    "directory_account": (
        "{user} is an account of a directory (LDAP, SSSD; uid {uid}): it is used as it is",
        "{user} 是目录服务（LDAP、SSSD）中的账号（uid {uid}）：按现状使用，不作改动",
    ),
    "directory_keys": (
        "the SSH keys of {user} belong into the directory: none is written here",
        "{user} 的 SSH 公钥应由目录服务管理：此处不写入",
    ),
    "stays_disabled": (
        "{user} is disabled and stays so: roost user enable {user}",
        "{user} 已停用，仍保持停用：启用请执行 roost user enable {user}",
    ),
    "archive_stays": (
        "an earlier account {user} is archived; roost user restore {user} would bring it back",
        "早先的账号 {user} 有归档；roost user restore {user} 可将其恢复",
    ),
    "home_absent": (
        "{user} has no home: {home} is not there",
        "{user} 没有主目录：{home} 不存在",
    ),
    "home_link": (
        "the home of {user}, {home}, is a symbolic link: it is left alone",
        "{user} 的主目录 {home} 是符号链接：不作改动",
    ),
    "home_others": (
        "the home of {user}, {home}, belongs to somebody else: it is left alone",
        "{user} 的主目录 {home} 属于其他账号：不作改动",
    ),
    "jobs_go_on": (
        "jobs {jobs} of {user} run on to their end; --end-jobs cancels them",
        "{user} 的作业 {jobs} 继续运行到结束；加 --end-jobs 可将其取消",
    ),
    "bookings_stay": (
        "bookings {bookings} of {user} stay until the rules give them up; roost book cancel",
        "{user} 的预约 {bookings} 保留，由规则按未使用释放；也可用 roost book cancel 取消",
    ),
    "processes_go_on": (
        "processes of {user} go on: {processes}",
        "{user} 的进程继续运行：{processes}",
    ),
    "files_elsewhere": (
        "files of {user} outside the home stay, with uid {uid}: find / -xdev -uid {uid}",
        "{user} 在主目录以外的文件保留，属主为 uid {uid}：find / -xdev -uid {uid}",
    ),
    "is_removed": (
        "{user} was removed before; its archive stays",
        "{user} 此前已删除，归档保留",
    ),
    # -- what is wrong with a person, and what to do
    "name_missing": (
        "there is no account name; write one",
        "没有账号名；请填写",
    ),
    "name_wrong": (
        "no account can have that name; write letters, digits, - and _",
        "账号不能用这个名字；请用字母、数字、- 和 _",
    ),
    "name_not_new": (
        "there is no such account, and none of that name is made: write a to z, 0 to 9, - and _,"
        " a letter first, {most} at most",
        "没有这个账号，也不能创建此名的账号：请用 a 到 z、0 到 9、- 和 _，以字母开头，"
        "最多 {most} 个字符",
    ),
    "name_twice": (
        "that account stands in row {before} already; leave one of them",
        "该账号已出现在第 {before} 行；请只保留一行",
    ),
    "full_name_wrong": (
        "a full name has at most {most} characters and no colon, comma, equals sign, quotation"
        " mark or line break; write it without",
        "姓名最多 {most} 个字符，不能含冒号、逗号、等号、引号或换行；请去掉",
    ),
    "system_account": (
        "{user} is an account of the system (uid {uid}): Roost touches none",
        "{user} 是系统账号（uid {uid}）：Roost 不会改动系统账号",
    ),
    "powerful_account": (
        "{user} may act as root ({group}): Roost changes no such account; take it out of there"
        " first, or do it by hand",
        "{user} 可以取得 root 权限（{group}）：Roost 不改动此类账号；请先将其移出，或手动操作",
    ),
    "home_taken": (
        "{home} is there already and belongs to {owner}: move it away, or restore the account",
        "{home} 已存在，属于 {owner}：请先移走，或恢复原账号",
    ),
    "group_of_name": (
        "there is a Linux group {user}, and an account makes one of its own name: choose another"
        " name, or remove the group (groupdel {user})",
        "已有名为 {user} 的 Linux 组，而创建账号会建立同名组：请换一个名字，或先删除该组"
        "（groupdel {user}）",
    ),
    "group_unknown": (
        "the rules have no group of that name ({known}); write one of these, or add to {path}:"
        " {line}",
        "规则中没有这个组（现有：{known}）；请改写其中之一，或在 {path} 中加入：{line}",
    ),
    "group_by_name": (
        "the rules list the members of that group one by one; let it also list a Linux group, in"
        " {path}: {line}",
        "规则中逐个列出了该组成员；请让它也列出一个 Linux 组，在 {path} 中写：{line}",
    ),
    "group_powerful": (
        "the rules fill that group from the Linux group {linux}, which is of the system or gives"
        " root; let it list another one",
        "规则用 Linux 组 {linux} 作为该组成员，而它是系统组或可取得 root 权限；请改用其他组",
    ),
    "group_gives_more": (
        "the rules fill that group from the Linux group {linux}, which also makes operators, leads"
        " or viewers; let it list another one",
        "规则用 Linux 组 {linux} 作为该组成员，而它同时决定管理员、组长或只读用户；请改用其他组",
    ),
    "group_of_directory": (
        "the Linux group {linux} is of a directory (LDAP, SSSD); add the person there",
        "Linux 组 {linux} 来自目录服务（LDAP、SSSD）；请在目录服务中加入",
    ),
    "group_name_wrong": (
        "no Linux group can be named {linux}; let the rules name another one",
        "Linux 组不能名为 {linux}；请在规则中换一个名字",
    ),
    "share_without_group": (
        "a share is a group's; write the group too",
        "份额属于组；请同时填写组",
    ),
    "share_of_default": (
        "{group} is in no table of the rules and has share 1; leave the share away",
        "{group} 在规则中没有定义，份额为 1；请不要填写份额",
    ),
    "share_wrong": ("a share is a number; write one", "份额必须是数字；请改正"),
    "share_differs": (
        "the rules give the group {group} share {there}; write that, or in {path}: {line}",
        "规则中 {group} 组的份额为 {there}；请照此填写，或在 {path} 中改为：{line}",
    ),
    "key_private": (
        "that is a private key, which nobody but its owner should have; give the .pub file, and let"
        " its owner make a new pair",
        "这是私钥，除本人外不应有人持有；请给出 .pub 文件，并让本人重新生成密钥对",
    ),
    "key_lines": (
        "an SSH key is one line without control characters; write that line alone",
        "一个 SSH 公钥只有一行，且不含控制字符；请只写这一行",
    ),
    "key_options": (
        "there are options before the key, and they are not taken; begin at its type (ssh-ed25519"
        " …)",
        "公钥前带有选项，不予接受；请从密钥类型（ssh-ed25519 …）写起",
    ),
    "key_unknown": (
        "that is no SSH public key; it begins with ssh-ed25519, ecdsa-sha2-… or ssh-rsa",
        "这不是 SSH 公钥；公钥以 ssh-ed25519、ecdsa-sha2-… 或 ssh-rsa 开头",
    ),
    "key_damaged": (
        "the SSH key is cut off or damaged; copy the whole line of the .pub file",
        "SSH 公钥不完整或已损坏；请复制 .pub 文件的整行",
    ),
    "key_weak": (
        "an RSA key of less than 2048 bits lets others in; ssh-keygen -t ed25519",
        "RSA 密钥短于 2048 位，不安全；请用 ssh-keygen -t ed25519 重新生成",
    ),
    "keys_many": ("at most {most} keys are taken at once; leave some", "一次最多 {most} 个公钥"),
    "keys_link": (
        "~/.ssh or its authorized_keys is a symbolic link: nothing is written through one; let"
        " {user} take it away",
        "~/.ssh 或其中的 authorized_keys 是符号链接：不会经由链接写入；请让 {user} 先移除",
    ),
    "keys_others": (
        "~/.ssh or its authorized_keys is no folder and no file of {user}'s own; let them have it",
        "~/.ssh 或其中的 authorized_keys 不是 {user} 自己的目录或文件；请先改正属主",
    ),
    "keys_unread": (
        "~/.ssh/authorized_keys cannot be read or written by {user}; look at its mode, and at the"
        " file system",
        "{user} 无法读写 ~/.ssh/authorized_keys；请检查权限和文件系统",
    ),
    "keys_home": (
        "there is no home of {user}'s own at {home}, where a key could be; give it one first",
        "{home} 不是 {user} 自己的主目录，无处写入公钥；请先建好主目录",
    ),
    "quota_wrong": (
        "that is no size; write one as 500G or 2T, or none",
        "这不是容量；请写成 500G、2T，或 none 表示不限",
    ),
    "quota_off": (
        "the file system of {folder} has no user quotas switched on, so none can be set; mount it"
        " with usrquota (see quotaon(8)), or leave the quota away",
        "{folder} 所在文件系统没有开启用户配额，无法设置；请以 usrquota 挂载（见 quotaon(8)），"
        "或不填配额",
    ),
    "quota_unknown": (
        "this kernel or file system ({folder}) knows no user quotas, so none can be set; leave the"
        " quota away",
        "此内核或 {folder} 所在文件系统不支持用户配额，无法设置；请不填配额",
    ),
    # -- of disabling, removing and restoring
    "no_account": ("there is no account of that name", "没有这个账号"),
    "directory_leaves": (
        "{user} is an account of a directory (LDAP, SSSD; uid {uid}): disable or remove it there",
        "{user} 是目录服务（LDAP、SSSD）中的账号（uid {uid}）：请在目录服务中停用或删除",
    ),
    "disabled_elsewhere": (
        "{user} was not disabled by Roost, which does not know how it was before: usermod --unlock"
        " --expiredate '' {user}",
        "{user} 不是由 Roost 停用的，Roost 不知道原状：usermod --unlock --expiredate '' {user}",
    ),
    "has_jobs": (
        "{user} has jobs: {jobs}; cancel them, or say --end-jobs",
        "{user} 还有作业：{jobs}；请先取消，或加 --end-jobs",
    ),
    "has_processes": (
        "{user} has processes: {processes}; end them first, as with loginctl terminate-user {user}",
        "{user} 还有进程：{processes}；请先结束，例如 loginctl terminate-user {user}",
    ),
    "remove_link": (
        "the home of {user}, {home}, is a symbolic link: what it leads to is not packed nor"
        " deleted; put a folder in its place",
        "{user} 的主目录 {home} 是符号链接：其指向的内容不会打包或删除；请换成真正的目录",
    ),
    "remove_others": (
        "the home of {user}, {home}, belongs to somebody else and would be deleted; give {user}"
        " another one (usermod --home)",
        "{user} 的主目录 {home} 属于其他账号，不能随之删除；请为 {user} 换一个（usermod --home）",
    ),
    "restore_there": (
        "there is an account {user} (uid {uid}); remove or rename it first",
        "已有账号 {user}（uid {uid}）；请先删除或改名",
    ),
    "no_archive": ("there is no archive of {user} in {folder}", "{folder} 中没有 {user} 的归档"),
    "uid_taken": (
        "uid {uid} has been given to another account; unpack {path} by hand",
        "uid {uid} 已被其他账号使用；请手动解包 {path}",
    ),
    # -- of a list of people
    "head_unknown": (
        "no column is known by that head; name it name, full name, group, key, quota or share, or"
        " take it out",
        "无法识别该列标题；请改为 账号、姓名、组、公钥、配额 或 份额，或删去此列",
    ),
    "head_twice": ("two columns say the same; leave one", "有两列含义相同；请只保留一列"),
    "head_no_name": (
        "no column has the account names; give one the head name",
        "没有账号名一列；请将该列标题写为 账号",
    ),
    "cells_many": (
        "the row has more cells than the head; put what has commas in quotation marks",
        "该行的单元格多于标题；含逗号的内容请加引号",
    ),
    "sheet_nothing": ("there is nothing in it; write a head and a row", "文件是空的"),
    "sheet_long": ("{most} people at most are taken at once; cut it in two", "一次最多 {most} 人"),
}
