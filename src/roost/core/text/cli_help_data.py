"""What `roost help` says of shared data sets: part of `cli_help`."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "data add": (
        "Keep a data set or model once, for everybody",
        "把数据集或模型保存一份，供所有人使用",
    ),
    "data add.more": (
        "Copied with your rights into the shared place, read-only, each file with its SHA-256; half"
        " a copy is never shown. Your own files stay as they are. Everybody here can read it then.",
        "以您的权限复制到共享目录，只读，每个文件都有 SHA-256；不会显示未完成的副本。"
        "您自己的文件保持不变。之后本机所有人都可读取。",
    ),
    "data add.--name": ("what it is called", "名称"),
    "data add.--licence": ("who may use it for what, in words", "许可说明"),
    "data list": ("The data sets and models that are there", "现有的数据集和模型"),
    "data show": (
        "One data set: size, owner, licence, checksum",
        "一个数据集：大小、所有者、许可、校验和",
    ),
    "data link": (
        "A link to a data set, in a folder of mine",
        "在自己的目录中创建指向数据集的链接",
    ),
    "data verify": ("Read a data set and compare it with its manifest", "读取数据集并与清单比对"),
    "data remove": ("Take a data set out, if nobody uses it", "移除无人使用的数据集"),
    "data remove.more": (
        "Its owner and operators. Refused while a process has a file of it open; kept for 7 days.",
        "仅限所有者和管理员。有进程打开其文件时拒绝；保留 7 天。",
    ),
    "data remove.--yes": ("do not ask", "不询问"),
}
