"""What the audit says of people's things: what was found, what can happen, what to do."""

Three = tuple[tuple[str, str], tuple[str, str], tuple[str, str]]
_GROUP_DO = (
    "gpasswd -d {user} {group}   (holds from their next login on)",
    "gpasswd -d {user} {group}   （下次登录起生效）",
)
_GROUP = ("{user} is in the group {group}.", "{user} 在 {group} 组中。")

FOUND: dict[str, Three] = {
    "home_readable": (
        (
            "The home of {user} ({path}) can be read by others: {mode}.",
            "{user} 的主目录 {path} 可被他人读取：{mode}。",
        ),
        (
            "Whoever has an account here can read results, data and configuration in it.",
            "任何有账号的人都能读到其中未发表的结果、数据和配置。",
        ),
        ("chmod {after} {word}", "chmod {after} {word}"),
    ),
    "home_writable": (
        (
            "Others can write into the home of {user} ({path}): {mode}.",
            "他人可写入 {user} 的主目录 {path}：{mode}。",
        ),
        (
            "Whoever writes there can replace what {user} runs at login, and so act as {user}.",
            "能写入者可替换 {user} 登录时运行的内容，从而冒充 {user}。",
        ),
        ("chmod {after} {word}", "chmod {after} {word}"),
    ),
    "home_passable": (
        (
            "Others can pass through the home of {user} ({path}): {mode}.",
            "他人可穿过 {user} 的主目录 {path}：{mode}。",
        ),
        (
            "Files whose names others know or guess are open to them as far as the files' own modes"
            " say.",
            "只要知道或猜到文件名，他人即可按文件自身权限打开。",
        ),
        ("chmod {after} {word}", "chmod {after} {word}"),
    ),
    "home_link": (
        (
            "The home of {user} ({path}) is a link, which was not followed.",
            "{user} 的主目录 {path} 是符号链接，未跟随检查。",
        ),
        ("What it leads to was not looked at.", "链接指向的内容未检查。"),
        (
            "usermod -d TARGET {user}   (names the folder itself)",
            "usermod -d 目标目录 {user}   （直接写明目录）",
        ),
    ),
    "home_foreign": (
        (
            "The home of {user} ({path}) belongs to another account (uid {owner}).",
            "{user} 的主目录 {path} 属于另一账号（uid {owner}）。",
        ),
        (
            "That account can read and replace everything that {user} keeps there.",
            "该账号可读取并替换 {user} 存放的一切。",
        ),
        ("chown -h {user} {word}", "chown -h {user} {word}"),
    ),
    "key_private": (
        (
            "A private key of {user} can be read by others: {path} ({mode}).",
            "{user} 的私钥可被他人读取：{path}（{mode}）。",
        ),
        (
            "Whoever copies it can log in as {user} wherever the key is known.",
            "复制私钥者可在任何信任该密钥的地方以 {user} 身份登录。",
        ),
        (
            "chmod {after} {word}   (and make a new key: it may be copied already)",
            "chmod {after} {word}   （并更换密钥：可能已被复制）",
        ),
    ),
    "key_private_within": (
        (
            "A private key of {user} has a wide mode, in a folder that others do not get into:"
            " {path} ({mode}).",
            "{user} 的私钥权限过宽，但所在目录他人无法进入：{path}（{mode}）。",
        ),
        ("It is open to others as soon as the folder is.", "目录一旦开放，私钥即随之暴露。"),
        ("chmod {after} {word}", "chmod {after} {word}"),
    ),
    "key_authorized": (
        (
            "Others can change who logs in as {user}: {path} ({mode}).",
            "他人可更改谁能以 {user} 身份登录：{path}（{mode}）。",
        ),
        ("Whoever adds a key there logs in as {user}.", "在其中加入密钥者即可以 {user} 身份登录。"),
        ("chmod {after} {word}", "chmod {after} {word}"),
    ),
    "key_authorized_within": (
        (
            "{path} of {user} has a wide mode ({mode}), in a folder that others do not get into.",
            "{user} 的 {path} 权限过宽（{mode}），但所在目录他人无法进入。",
        ),
        (
            "Others could add a key as soon as the folder is open.",
            "目录一旦开放，他人即可加入密钥。",
        ),
        ("chmod {after} {word}", "chmod {after} {word}"),
    ),
    "key_foreign": (
        (
            "{path} of {user} belongs to another account (uid {owner}).",
            "{user} 的 {path} 属于另一账号（uid {owner}）。",
        ),
        (
            "That account decides who logs in as {user}, or knows the key.",
            "该账号可决定谁能以 {user} 身份登录，或知道私钥内容。",
        ),
        ("chown -h {user} {word}", "chown -h {user} {word}"),
    ),
    "group_admin": (
        (
            "{user} is in the group {group}, and is an administrator by sudo.",
            "{user} 在 {group} 组中，同时有 sudo 管理权限。",
        ),
        ("{group} asks for no password where sudo may.", "{group} 组不像 sudo 那样可要求密码。"),
        _GROUP_DO,
    ),
    "group_docker": (
        _GROUP,
        (
            "That is root: `docker run -v /:/host` reads and changes every file here, and takes any"
            " GPU past every rule.",
            "等同 root：`docker run -v /:/host` 可读写本机所有文件，并绕过规则占用任何 GPU。",
        ),
        _GROUP_DO,
    ),
    "group_podman": (
        _GROUP,
        (
            "Through the socket of root's podman that is root, as with Docker.",
            "借助 root 的 podman 套接字，与 Docker 一样等同 root。",
        ),
        _GROUP_DO,
    ),
    "group_lxd": (
        _GROUP,
        (
            "That is root: a privileged container with / inside can be made by each member.",
            "等同 root：组员可建立挂载 / 的特权容器。",
        ),
        _GROUP_DO,
    ),
    "group_incus": (
        _GROUP,
        (
            "Members make containers here; with a project that is not restricted, as root.",
            "组员可建立容器；若项目未受限，则等同 root。",
        ),
        _GROUP_DO,
    ),
    "group_incus_admin": (
        _GROUP,
        (
            "That is root: a privileged container with / inside can be made by each member.",
            "等同 root：组员可建立挂载 / 的特权容器。",
        ),
        _GROUP_DO,
    ),
    "group_libvirt": (
        _GROUP,
        (
            "That is root: a virtual machine can be given any disk or device of this one.",
            "等同 root：可把本机任何磁盘或设备交给虚拟机。",
        ),
        _GROUP_DO,
    ),
    "group_disk": (
        _GROUP,
        (
            "That is root: whole disks are read and written past every file's mode.",
            "等同 root：可绕过文件权限直接读写整块磁盘。",
        ),
        _GROUP_DO,
    ),
    "group_kmem": (
        _GROUP,
        (
            "Members may read the kernel's memory, and what everybody has in it.",
            "组员可读取内核内存及其中所有人的数据。",
        ),
        _GROUP_DO,
    ),
    "group_shadow": (
        _GROUP,
        (
            "Members can read everybody's password hashes and try passwords at home.",
            "组员可读取所有人的密码散列并离线破解。",
        ),
        _GROUP_DO,
    ),
    "sudoers_writable": (
        (
            "Others than root can change {path} ({mode}, uid {owner}).",
            "root 以外的人可更改 {path}（{mode}，uid {owner}）。",
        ),
        ("Whoever writes there makes themselves root.", "能写入者即可成为 root。"),
        ("chown root:root {word}; chmod 0440 {word}", "chown root:root {word}; chmod 0440 {word}"),
    ),
    "sudoers_unread": (
        ("{line} of sudoers was not understood.", "sudoers 的 {line} 无法解析。"),
        ("What it allows is not in this report.", "它允许的内容不在本报告中。"),
        ("visudo -c", "visudo -c"),
    ),
    "sudo_forbidden": (
        (
            "{who} ({people}) may do everything as root but for a list: {commands} ({where}).",
            "{who}（{people}）除个别命令外可以 root 执行一切：{commands}（{where}）。",
        ),
        (
            "A list of what is forbidden forbids nothing: a copy under another name is allowed.",
            "黑名单形同虚设：换个名字复制即可绕过。",
        ),
        (
            "visudo -f {file}   (name what is allowed instead)",
            "visudo -f {file}   （改为列出允许的命令）",
        ),
    ),
    "sudo_all_nopasswd": (
        (
            "{who} ({people}) may do everything as root without a password ({where}).",
            "{who}（{people}）无需密码即可以 root 执行一切（{where}）。",
        ),
        (
            "Whoever gets at one of their sessions or keys, or at what they run, is root at once.",
            "任何接触到其会话、密钥或所运行程序的人立即成为 root。",
        ),
        ("visudo -f {file}   (take NOPASSWD away)", "visudo -f {file}   （去掉 NOPASSWD）"),
    ),
    "sudo_all": (
        (
            "{who} ({people}) may do everything as root ({where}).",
            "{who}（{people}）可以 root 执行一切（{where}）。",
        ),
        ("They are administrators of this machine.", "他们是本机管理员。"),
        ("visudo -f {file}   (if somebody should not be)", "visudo -f {file}   （如有不应列入者）"),
    ),
    "sudo_shell": (
        (
            "{who} ({people}) may run as root without a password: {commands} ({where}).",
            "{who}（{people}）无需密码即可以 root 运行：{commands}（{where}）。",
        ),
        (
            "At least one of these starts other programs or writes any file: that is root.",
            "其中至少一个可启动其他程序或写任意文件：等同 root。",
        ),
        (
            "visudo -f {file}   (name a program of a fixed purpose instead)",
            "visudo -f {file}   （改为用途单一的程序）",
        ),
    ),
    "sudo_nopasswd": (
        (
            "{who} ({people}) may run as root without a password: {commands} ({where}).",
            "{who}（{people}）无需密码即可以 root 运行：{commands}（{where}）。",
        ),
        ("As safe as these programs are.", "安全与否取决于这些程序。"),
        (
            "visudo -f {file}   (if it is not needed any more)",
            "visudo -f {file}   （如已不再需要）",
        ),
    ),
    "secret_process": (
        (
            "Process {which} of {user} has what looks like a secret ({kind}) in its command line:"
            " {shown}",
            "{user} 的进程 {which} 命令行中疑似含有密钥（{kind}）：{shown}",
        ),
        (
            "Command lines can be read by everybody here while they run.",
            "进程运行期间，本机所有人都能看到命令行。",
        ),
        (
            "Give it by a file (0600) or the environment instead, and make a new secret.",
            "改用文件（0600）或环境变量传递，并更换该密钥。",
        ),
    ),
    "secret_cron": (
        (
            "{which} ({user}) has what looks like a secret ({kind}): {shown}",
            "{which}（{user}）中疑似含有密钥（{kind}）：{shown}",
        ),
        (
            "It is in the command line, for everybody, whenever it runs.",
            "每次运行时，它都会出现在所有人可见的命令行中。",
        ),
        (
            "Give it by a file (0600) instead, and make a new secret.",
            "改用文件（0600）传递，并更换该密钥。",
        ),
    ),
    "secret_job": (
        (
            "Job {which} of {user} has what looks like a secret ({kind}) in its command: {shown}",
            "{user} 的作业 {which} 命令中疑似含有密钥（{kind}）：{shown}",
        ),
        (
            "It stays on record with the job, and everybody sees it while the job runs.",
            "它随作业记录保存，运行期间所有人可见。",
        ),
        (
            "Give it by --env-file or a file (0600) instead, and make a new secret.",
            "改用 --env-file 或文件（0600）传递，并更换该密钥。",
        ),
    ),
    "shared_folder": (
        (
            "Everybody may delete and replace what others put into {path} ({mode}, {user}).",
            "任何人都可删除或替换他人放在 {path} 中的内容（{mode}，{user}）。",
        ),
        (
            "One slip or one bad will loses everybody's data there, or swaps a model for another.",
            "一次失误或恶意即可丢失所有人的数据，或调换模型。",
        ),
        ("chmod +t {word}", "chmod +t {word}"),
    ),
    "shared_file": (
        (
            "Everybody may change {path} ({mode}, {user}).",
            "任何人都可更改 {path}（{mode}，{user}）。",
        ),
        ("Whoever uses it uses what anybody has made of it.", "使用者用到的可能已被他人改动。"),
        ("chmod {after} {word}", "chmod {after} {word}"),
    ),
}
