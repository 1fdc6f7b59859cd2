"""Help of `roost audit` and `roost audit log`."""

MESSAGES: dict[str, tuple[str, str]] = {
    "audit": (
        "What is at risk on this machine, and what to do",
        "检查本机的安全风险及处理办法",
    ),
    "audit.more": (
        "Looks at homes, keys, groups as good as root, sudo, GPU device files, containers, shared "
        "folders, command lines, sshd, updates and the kernel; changes nothing. Operators see the "
        "whole machine, everybody else what is theirs. Exits with 1 where something is at risk "
        "that the rules ([audit] accept) do not accept.\n"
        "roost audit --fix [CHECK...] shows every change, asks, and makes those that can be made; "
        "roost audit --undo [CHECK...] takes them back.",
        "检查主目录、密钥、等同 root 的组、sudo、GPU 设备文件、容器、共享目录、命令行、sshd、自动"
        "更新和内核，不作任何改动。管理员看到整台机器，其他人只看到自己的。若有风险且规则（[audit] "
        "accept）未接受，退出码为 1。\n"
        "roost audit --fix [CHECK...] 先列出所有改动并询问，再执行能自动完成的；roost audit --undo "
        "[CHECK...] 撤销这些改动。",
    ),
    "audit.--check": ("only this check; can be repeated", "只做此项检查，可重复"),
    "audit.--fix": ("mend what can be mended, after showing it", "先列出再修复能修复的"),
    "audit.--undo": ("take back what --fix changed", "撤销 --fix 所作的改动"),
    "audit log": ("Who did what to whom", "操作记录：谁对谁做了什么"),
    "audit log.--limit": ("at most so many, newest first (50)", "最多显示多少条，新的在前（50）"),
}
