"""What `roost env` and `roost run --env` refuse: part of `cli_errors`."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "env_not_as_root": (
        "installing runs code of the packages, and root must not: do it as the person whose it is",
        "安装会运行软件包中的代码，不能以 root 进行：请用环境所有者的账号",
    ),
    "env_bad_name": (
        "“{name}” is no name of an environment: letters, digits and . _ + -, at most {limit}",
        "“{name}”不能作环境名称：只能用字母、数字和 . _ + -，最多 {limit} 个字符",
    ),
    "env_exists": (
        "there is an environment {name} already: roost env remove {name}, or another name",
        "已有环境 {name}：先 roost env remove {name}，或换个名称",
    ),
    "env_missing": (
        "you have no environment {name} (in {root}): roost env list",
        "你没有环境 {name}（{root}）：见 roost env list",
    ),
    "env_half": (
        "{name} in {root} is not whole: roost env remove {name}, and make it again",
        "{root} 中的 {name} 不完整：请 roost env remove {name} 后重建",
    ),
    "env_not_shared": (
        "nobody shares an environment {name}, or it cannot be read from here: roost env list",
        "没有人共享环境 {name}，或此处读不到：见 roost env list",
    ),
    "env_in_use": (
        "{name} is used by your jobs {jobs}: cancel them, or --yes",
        "你的作业 {jobs} 正在使用 {name}：请先取消，或加 --yes",
    ),
    "env_no_uv": (
        "there is no uv on this machine, which makes environments: pip install uv",
        "本机没有 uv，无法创建环境：pip install uv",
    ),
    "env_no_conda": (
        "there is no micromamba, mamba or conda, and no py-rattler: pip install 'roost[conda]'",
        "没有 micromamba、mamba、conda，也没有 py-rattler：pip install 'roost[conda]'",
    ),
    "env_no_python": (
        "{program}: there is no such Python on this machine\n  {text}",
        "{program}：本机没有这样的 Python\n  {text}",
    ),
    "env_unresolved": (
        "{program} finds no versions\n  {text}",
        "{program} 找不到可用的版本\n  {text}",
    ),
    "env_build_failed": ("{program} failed\n  {text}", "{program} 失败\n  {text}"),
    "env_bad_requirement": ("“{given}” is no requirement", "“{given}”不是依赖项"),
    "env_bad_python": ("“{given}” is no Python", "“{given}”不是 Python 版本"),
    "env_unknown_source": (
        "{path}: not known what this is: requirements.txt, environment.yml, pyproject.toml,"
        " uv.lock, pylock.toml",
        "{path}：无法识别，应为 requirements.txt、environment.yml、pyproject.toml、uv.lock"
        " 或 pylock.toml",
    ),
    "env_source_too_large": (
        "{path} is larger than {limit} bytes",
        "{path} 超过 {limit} 字节",
    ),
    "env_os": ("{path}: {text}", "{path}：{text}"),
    "env_bad_yaml": ("line {line}: this is no YAML", "第 {line} 行：不是 YAML"),
    "env_bad_lock_line": (
        "“{given}” names no package with a hash",
        "“{given}”没有带哈希的软件包地址",
    ),
    "env_other_hash": (
        "{package}: the channel has another file than the lock says",
        "{package}：频道中的文件与锁定文件不符",
    ),
    "env_conda_not_mapping": (
        "environment.yml must hold channels and dependencies",
        "environment.yml 应包含 channels 和 dependencies",
    ),
    "env_conda_dependencies": (
        "dependencies must be a list of packages, with at most a list under pip",
        "dependencies 应为软件包列表，其中可有一项 pip 列表",
    ),
    "env_conda_not_list": ("{key} must be a list of texts", "{key} 应为文本列表"),
    "env_conda_bad_package": ("“{given}” is no package of conda's", "“{given}”不是 conda 软件包"),
    "env_conda_bad_channel": ("“{given}” is no channel", "“{given}”不是频道"),
    "env_conda_clone": (
        "{name} is a conda environment of somebody else's: make one from its lock",
        "{name} 是别人的 conda 环境：请按它的锁定文件创建",
    ),
    "env_conda_share": (
        "{name} is a conda environment, whose files name their place: give its lock instead"
        " (roost env lock {name} -o FILE; roost env create NAME --from FILE)",
        "{name} 是 conda 环境，文件中写有自己的路径：请改为分享锁定文件"
        "（roost env lock {name} -o 文件；roost env create 名称 --from 文件）",
    ),
    "env_interpreter_fails": ("{path} does not run", "{path} 无法运行"),
    "env_changed_meanwhile": (
        "{path} changed while it was sent: share it again",
        "{path} 在上传时有改动：请重新共享",
    ),
    "env_let_go": (
        "it is removed, but the daemon keeps the files that it was a clone of: {text}",
        "已删除，但守护进程仍保留其克隆来源的文件：{text}",
    ),
    "env_cannot_work": (
        "not queued: {text}; --no-env-check queues it all the same",
        "未提交：{text}；加 --no-env-check 仍可提交",
    ),
}
