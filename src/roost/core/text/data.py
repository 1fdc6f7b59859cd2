"""What is said of shared data sets: why one is not taken in, or not taken out."""

MESSAGES = {
    "no_set": (
        "there is no data set {name}: roost data list",
        "没有数据集 {name}：可用 roost data list 查看",
    ),
    "not_your_set": (
        "data set {name} is {owner}'s: only its owner and operators may remove it",
        "数据集 {name} 属于 {owner}：只有其所有者和管理员可以移除",
    ),
    "in_use": (
        "data set {name} is in use by {count} processes ({pids}): end them first",
        "数据集 {name} 正被 {count} 个进程使用（{pids}）：请先结束它们",
    ),
    "bad_set_name": (
        "{name} cannot be a data set's name: letters, digits, dots, dashes and underscores,"
        " 100 at most, a letter or digit first",
        "{name} 不能用作数据集名：只能用字母、数字、点、连字符和下划线，"
        "最多 100 个，以字母或数字开头",
    ),
    "bad_path": ("the path must be absolute", "路径必须是绝对路径"),
    "name_taken": (
        "there is a data set {name} already: choose another name, or remove that first",
        "已有数据集 {name}：请换一个名称，或先移除它",
    ),
    "being_added": ("data set {name} is being added already", "数据集 {name} 正在添加中"),
    "too_many": (
        "{count} data sets are being added: wait until one is there",
        "正在添加 {count} 个数据集：请等其中一个完成",
    ),
    "other_account": (
        "{user} is not an account whose files may be read now",
        "目前不能读取账号 {user} 的文件",
    ),
    "no_place": (
        "the place of data sets, {place}, cannot be used: {why} (rules: data.path)",
        "数据集目录 {place} 无法使用：{why}（规则：data.path）",
    ),
    "place_unsafe": (
        "{place} cannot hold data sets: others than root may change {above} (rules: data.path)",
        "{place} 不能存放数据集：root 以外的人可以改动 {above}（规则：data.path）",
    ),
    "place_not_ours": (
        "{place} holds something already that Roost did not put there; name an empty folder"
        " (rules: data.path)",
        "{place} 中已有不是 Roost 放入的内容；请指定空目录（规则：data.path）",
    ),
    # -- why a set did not come; name, path and why are given to each
    "unreadable": (
        "data set {name} was not added: {path} cannot be read ({why})",
        "数据集 {name} 未添加：无法读取 {path}（{why}）",
    ),
    "special_file": (
        "data set {name} was not added: {path} is neither a file, a folder nor a link",
        "数据集 {name} 未添加：{path} 不是文件、目录或链接",
    ),
    "link_outside": (
        "data set {name} was not added: the link {path} leads out of it",
        "数据集 {name} 未添加：链接 {path} 指向数据集之外",
    ),
    "too_deep": (
        "data set {name} was not added: {path} lies too deep",
        "数据集 {name} 未添加：{path} 目录层次过深",
    ),
    "bad_name": (
        "data set {name} was not added: {path} cannot be in one",
        "数据集 {name} 未添加：{path} 不能放入数据集",
    ),
    "changed": (
        "data set {name} was not added: {path} changed while it was read; add it again",
        "数据集 {name} 未添加：{path} 在读取时被改动；请重新添加",
    ),
    "no_room": (
        "data set {name} was not added: there is not enough room; nothing of it is left there",
        "数据集 {name} 未添加：空间不足；没有留下任何部分",
    ),
    "not_written": (
        "data set {name} was not added: it could not be written ({why})",
        "数据集 {name} 未添加：无法写入（{why}）",
    ),
    "stopped": ("data set {name} was not added: it was stopped", "数据集 {name} 未添加：已被停止"),
}
