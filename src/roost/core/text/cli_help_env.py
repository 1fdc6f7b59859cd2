"""What `roost help` says of environments: part of `cli_help`."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "env create": ("Make an environment of your own", "创建自己的环境"),
    "env create.more": (
        "From requirements as words, or from FILE: requirements.txt, environment.yml (conda),"
        " pyproject.toml, uv.lock, pylock.toml, or what roost env lock wrote. Packages are links"
        " into your own cache, so the next environment with them costs next to nothing.",
        "依赖可直接写出，或来自文件：requirements.txt、environment.yml（conda）、pyproject.toml、"
        "uv.lock、pylock.toml，或 roost env lock 的输出。软件包是指向你自己缓存的链接，"
        "再建含有它们的环境几乎不占磁盘。",
    ),
    "env create.--from": ("the file that says what is in it", "列出其内容的文件"),
    "env create.--python": (
        "a version that is on this machine, 3.12, or a path",
        "本机已有的版本，如 3.12，或路径",
    ),
    "env create.--conda": ("a conda environment of these packages", "用这些软件包建 conda 环境"),
    "env create.--channel": ("conda's channel; again for more", "conda 频道，可重复"),
    "env list": (
        "Your environments and the team's, with their sizes",
        "你的和团队共享的环境及其大小",
    ),
    "env show": ("What is in an environment", "查看环境的内容"),
    "env lock": ("Its exact versions with hashes", "输出确切版本和哈希"),
    "env lock.--output": ("write it to this file", "写入此文件"),
    "env clone": (
        "Make one like it, on the same files, without network",
        "建一个相同的环境：共用文件，不用网络",
    ),
    "env share": ("Let everybody use it, and nobody change it", "共享给所有人使用，但不能改动"),
    "env share.more": (
        "The team's copy is kept by the daemon, by content: what others share already is not sent"
        " again. Later changes of yours do not reach it until you share again.",
        "共享的副本由守护进程按内容保存：团队已有的文件不再上传。之后的改动在再次共享前不会影响它。",
    ),
    "env share.--stop": ("end that; what runs goes on", "取消共享；运行中的作业不受影响"),
    "env remove": ("Remove environments of your own", "删除自己的环境"),
    "env remove.--yes": ("also when jobs of yours use it", "有作业在用时也删除"),
    "env doctor": (
        "What is wrong with it, here and with this driver",
        "检查环境本身及与本机驱动的问题",
    ),
    "run.--env": (
        "in this environment: yours by NAME, a shared one by OWNER/NAME (roost env)",
        "在此环境中运行：自己的写名称，共享的写 所有者/名称（见 roost env）",
    ),
    "run.--no-env-check": (
        "also where its framework cannot work with this server's driver",
        "即使其框架与本服务器的驱动不符也提交",
    ),
}
