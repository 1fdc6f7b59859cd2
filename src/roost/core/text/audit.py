"""What `roost audit` says: its findings (see the two modules below), checks, changes, outcomes."""

from __future__ import annotations

from roost.core.text.audit_host import FOUND as HOST
from roost.core.text.audit_people import FOUND as PEOPLE

_FOUND = {**PEOPLE, **HOST}
MESSAGES: dict[str, tuple[str, str]] = {
    **{code: three[0] for code, three in _FOUND.items()},
    **{f"{code}.risk": three[1] for code, three in _FOUND.items()},
    **{f"{code}.do": three[2] for code, three in _FOUND.items()},
    # -- the checks ------------------------------------------------------------------------------
    "check.homes": ("homes that others can read or write", "他人可读写的主目录"),
    "check.ssh-keys": ("SSH keys and who may change them", "SSH 密钥及谁能更改"),
    "check.root-groups": ("groups that are as good as root", "等同 root 的组"),
    "check.sudo": ("who may do what as root", "谁能以 root 做什么"),
    "check.gpu-devices": ("device files of the GPUs", "GPU 设备文件"),
    "check.container-toolkit": ("what an image may choose", "镜像能自行选择什么"),
    "check.container-engine": ("who reaches the container engine", "谁能使用容器引擎"),
    "check.shared-folders": (
        "shared folders and files that all may write",
        "人人可写的共享目录和文件",
    ),
    "check.command-secrets": ("secrets in command lines", "命令行中的密钥"),
    "check.processes-visible": ("processes seen across accounts", "跨账号可见的进程"),
    "check.sshd": ("settings of sshd", "sshd 设置"),
    "check.driver-updates": ("updates of the driver by themselves", "驱动的自动更新"),
    "check.core-dumps": ("where core dumps go", "核心转储的去向"),
    "check.ptrace": ("looking into other programs", "窥视其他程序"),
    "check.kernel-leaks": ("what the kernel tells everybody", "内核对所有人公开的信息"),
    "check.tmp": ("temporary folders", "临时目录"),
    "check.nfs-exports": ("exported file systems", "导出的文件系统"),
    "check.roost-files": ("Roost's own files", "Roost 自己的文件"),
    # -- what a secret looks like ----------------------------------------------------------------
    "kind.hugging_face": ("Hugging Face token", "Hugging Face 令牌"),
    "kind.api_key": ("API key", "API 密钥"),
    "kind.github": ("GitHub token", "GitHub 令牌"),
    "kind.gitlab": ("GitLab token", "GitLab 令牌"),
    "kind.aws": ("AWS key", "AWS 密钥"),
    "kind.slack": ("Slack token", "Slack 令牌"),
    "kind.google": ("Google API key", "Google API 密钥"),
    "kind.jwt": ("signed token", "签名令牌"),
    "kind.roost": ("Roost token", "Roost 令牌"),
    "kind.url": ("password in an address", "地址中的密码"),
    "kind.option": ("option", "选项"),
    "kind.variable": ("variable", "变量"),
    # -- why one was not made --------------------------------------------------------------------
    "unseen.needs_root": (
        "Only root sees this; this Roost runs as an ordinary account.",
        "只有 root 能检查此项；此 Roost 以普通账号运行。",
    ),
    "unseen.slow": (
        "It did not answer in time (a disk or a name service that hangs?).",
        "未能及时得到结果（磁盘或名称服务卡住？）。",
    ),
    "unseen.failed": ("It failed: {detail}.", "检查失败：{detail}。"),
    "unseen.cut_off": (
        "Too much to search to the end: {detail}.",
        "内容过多，未能搜索完：{detail}。",
    ),
    # -- what a fix changes ----------------------------------------------------------------------
    "change.SetMode": ("{path}: mode {before} → {after}", "{path}：权限 {before} → {after}"),
    "change.SetKernel": (
        "sysctl {name}: {before} → {after}, now and in /etc/sysctl.d/60-roost-audit.conf",
        "sysctl {name}：{before} → {after}，立即生效并写入 /etc/sysctl.d/60-roost-audit.conf",
    ),
    "change.SetSshd": (
        "sshd: {name} {before} → {after}, in /etc/ssh/sshd_config.d/00-roost-audit.conf, tested"
        " with sshd -t, then reloaded",
        "sshd：{name} {before} → {after}，写入 /etc/ssh/sshd_config.d/00-roost-audit.conf，"
        "经 sshd -t 检验后重新加载",
    ),
    "change.SetToolkit": ("{path}: {name} = {after}", "{path}：{name} = {after}"),
    "change.HoldUpdates": (
        "/etc/apt/apt.conf.d/60roost-audit: unattended-upgrades leaves the driver alone ({name})",
        "/etc/apt/apt.conf.d/60roost-audit：unattended-upgrades 不再更新驱动（{name}）",
    ),
    # -- what became of a fix --------------------------------------------------------------------
    "fixed.done": ("done", "已完成"),
    "fixed.nothing": ("nothing to do: it is not found any more", "无需处理：问题已不存在"),
    "fixed.not_fixable": ("left: --fix cannot do this", "未处理：--fix 无法处理"),
    "fixed.changed": (
        "left: it is not what it was when it was looked at ({detail})",
        "未处理：与检查时不同（{detail}）",
    ),
    "fixed.failed": ("failed: {detail}", "失败：{detail}"),
    "fixed.undone": ("undone", "已撤销"),
}
