"""What `roost data` says."""

MESSAGES = {
    "none": (
        "no data sets yet: roost data add PATH --name NAME",
        "还没有数据集：roost data add PATH --name NAME",
    ),
    "name": ("NAME", "名称"),
    "owner": ("OWNER", "所有者"),
    "size": ("SIZE", "大小"),
    "files": ("FILES", "文件"),
    "used": ("LAST READ", "最近读取"),
    "licence": ("LICENCE", "许可"),
    "state": ("STATE", "状态"),
    "ready": ("ready", "可用"),
    "adding": ("adding", "添加中"),
    "failed": ("failed", "失败"),
    "progress": ("{name}: {done} of {all}", "{name}：{done}／{all}"),
    "added": (
        "{name} is at {path}: {files} files, {size}, SHA-256 {sha256}",
        "{name} 位于 {path}：{files} 个文件，{size}，SHA-256 {sha256}",
    ),
    "pickled": (
        "{count} files in formats that may run code when loaded: trust {owner}, or use safetensors",
        "{count} 个文件的格式在加载时可能执行代码：请确认信任 {owner}，或改用 safetensors",
    ),
    "path": ("path: {path}", "路径：{path}"),
    "made": ("added {time} by {owner}", "{owner} 于 {time} 添加"),
    "linked": ("{link} leads to {path}", "{link} 指向 {path}"),
    "good": (
        "{name} is as it was added: {files} files, SHA-256 {sha256}",
        "{name} 与添加时一致：{files} 个文件，SHA-256 {sha256}",
    ),
    "bad": ("{name} is not as it was added:", "{name} 与添加时不一致："),
    "wrong_manifest": ("its manifest is another one", "清单不符"),
    "wrong_content": ("{path}: other content", "{path}：内容不同"),
    "wrong_entry": ("{path}: missing, or something else", "{path}：缺失或不是原来的条目"),
    "extra": ("{path}: not in the manifest", "{path}：不在清单中"),
    "ask_remove": (
        "Remove data set {name} ({size}) for everybody? [y/N]",
        "要为所有人移除数据集 {name}（{size}）吗？[y/N]",
    ),
    "not_removed": ("nothing was removed", "未移除任何内容"),
    "removed": (
        "{name} is removed. Links to it lead nowhere now; it is kept for 7 days in"
        " {place}/.roost/removed, from where root can bring it back",
        "{name} 已移除。指向它的链接现已失效；"
        "内容在 {place}/.roost/removed 中保留 7 天，root 可从中恢复",
    ),
}
