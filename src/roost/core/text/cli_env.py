"""What `roost env` says, and what its doctor finds. Its refusals are in `cli_env_errors`."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "env_created": (
        "{name} is made: roost run --env {name} -- …",
        "{name} 已建好：roost run --env {name} -- …",
    ),
    "env_cloned": ("{name} is made, on the same files", "{name} 已建好，共用原有文件"),
    "locked": ("{name} is locked in {path}", "{name} 已锁定到 {path}"),
    "removed": ("{name} is removed", "{name} 已删除"),
    "shared": (
        "{name} ({size}) is there for everybody to use: roost run --env {name}; sent: {sent}",
        "{name}（{size}）已共享给所有人使用：roost run --env {name}；上传了 {sent}",
    ),
    "unshared": ("{name} is shared no more", "{name} 不再共享"),
    "none": (
        "no environments yet (in {root}): roost env create NAME --from requirements.txt",
        "还没有环境（{root}）：roost env create 名称 --from requirements.txt",
    ),
    "healthy": (
        "{name}: nothing wrong was found (driver: {driver})",
        "{name}：未发现问题（驱动：{driver}）",
    ),
    "yes": ("yes", "是"),
    "disk_text": ("{own}, and {linked} with others", "{own}，另与其他环境共用 {linked}"),
    "level_error": ("error  ", "错误"),
    "level_warning": ("warning", "警告"),
    "level_note": ("note   ", "提示"),
    "col_name": ("NAME", "名称"),
    "col_kind": ("KIND", "种类"),
    "col_python": ("PYTHON", "Python 版本"),
    "col_frameworks": ("FRAMEWORKS", "框架"),
    "col_own": ("OWN", "独占"),
    "col_linked": ("LINKED", "共用"),
    "col_used": ("USED", "上次使用"),
    "col_shared": ("SHARED", "已共享"),
    "fact_path": ("path", "路径"),
    "fact_python": ("Python", "Python 版本"),
    "fact_frameworks": ("frameworks", "框架"),
    "fact_packages": ("packages", "软件包数"),
    "fact_disk": ("disk", "磁盘"),
    "fact_made": ("made", "创建"),
    "fact_used": ("last used", "上次使用"),
    "fact_cloned_from": ("cloned from", "克隆自"),
    # -- findings ----------------------------------------------------------------------------------
    "finding_driver_too_old": (
        "{framework} {version} + CUDA {cuda} needs driver ≥ {needs}; this server has {driver}",
        "{framework} {version} + CUDA {cuda} 需要驱动 ≥ {needs}，本服务器为 {driver}",
    ),
    "finding_driver_too_old_compat": (
        "{framework} {version} + CUDA {cuda} needs driver ≥ {needs}; this server has {driver},"
        " which does only on data centre GPUs with the compatibility libraries of this environment",
        "{framework} {version} + CUDA {cuda} 需要驱动 ≥ {needs}，本服务器为 {driver}；"
        "只有数据中心 GPU 配合环境中的兼容库才能运行",
    ),
    "finding_driver_minor": (
        "{framework} {version} + CUDA {cuda} came with driver {needs}; on this server's {driver} it"
        " runs, but what compiles at run time (PTX) may fail",
        "{framework} {version} + CUDA {cuda} 对应驱动 {needs}；本服务器的 {driver} 可以运行，"
        "但运行时编译（PTX）可能失败",
    ),
    "finding_gpu_too_new": (
        "{framework} {version} was built for CUDA {cuda}, which knows no {model}: that needs"
        " CUDA ≥ {needs}",
        "{framework} {version} 为 CUDA {cuda} 构建，不支持 {model}：需要 CUDA ≥ {needs}",
    ),
    "finding_no_interpreter": ("it has no Python ({path})", "其中没有 Python（{path}）"),
    "finding_interpreter_gone": (
        "its Python is gone: {path} leads to {target}; make it again from its lock",
        "所用的 Python 已不在：{path} 指向 {target}；请按锁定文件重建",
    ),
    "finding_interpreter_fails": (
        "its Python does not run ({path})",
        "其中的 Python 无法运行（{path}）",
    ),
    "finding_python_changed": (
        "it was made for Python {was} and that Python is {now} now: make it again from its lock",
        "它是为 Python {was} 建的，而该 Python 现在是 {now}：请按锁定文件重建",
    ),
    "finding_glibc_too_old": (
        "{package} needs glibc {needs}; this server has {has}",
        "{package} 需要 glibc {needs}，本服务器为 {has}",
    ),
    "finding_other_machine": (
        "{package} was built for {built}; this server is {here}",
        "{package} 为 {built} 构建，本服务器为 {here}",
    ),
    "finding_other_python": (
        "{package} is built for another Python ({tag})",
        "{package} 为其他版本的 Python 构建（{tag}）",
    ),
    "finding_moved": (
        "its script {script} starts {python}: it was copied or moved from another place",
        "脚本 {script} 启动的是 {python}：环境是从别处复制或移动来的",
    ),
    "finding_broken_links": (
        "links to files that are no more: {count}, the first {first}",
        "指向已不存在文件的链接：{count} 个，第一个是 {first}",
    ),
    "finding_pythonpath": (
        "PYTHONPATH={value} comes before the environment's packages: unset it",
        "PYTHONPATH={value} 会优先于环境中的软件包：请取消设置",
    ),
    "finding_pythonhome": (
        "PYTHONHOME={value} is set: Python looks there; unset it",
        "设置了 PYTHONHOME={value}，Python 会去那里找：请取消设置",
    ),
    "finding_ld_library_path": (
        "LD_LIBRARY_PATH={value} may bring another CUDA than the framework's own",
        "LD_LIBRARY_PATH={value} 可能引入与框架自带不同的 CUDA",
    ),
    "finding_conda_active": (
        "conda has {path} active in this shell; a job with --env leaves it",
        "当前 shell 激活了 conda 的 {path}；使用 --env 的作业会离开它",
    ),
    "finding_user_site": (
        "{folder} has packages that come first: {packages}; set PYTHONNOUSERSITE=1 (jobs have it)",
        "{folder} 中的软件包会优先：{packages}；请设置 PYTHONNOUSERSITE=1（作业中已设置）",
    ),
    "finding_inconsistent": ("{text}", "依赖不一致：{text}"),
}
