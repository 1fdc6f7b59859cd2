"""How rules differ: one key a sentence. `old` and `new` are values as the file writes them."""

MESSAGES = {
    "changed": ("{key}: {old} → {new}", "{key}：{old} → {new}"),
    "added": ("{key}: not set → {new}", "{key}：未设置 → {new}"),
    "removed": ("{key}: {old} → no longer set", "{key}：{old} → 不再设置"),
    "default": ("default", "默认值"),
    "line": ("line {line}", "第 {line} 行"),
    "none": ("{old} and {new} say the same", "{old} 与 {new} 的规则相同"),
    "between": ("from {old} to {new}:", "从 {old} 到 {new}："),
    "in_force": ("the rules in force", "当前生效的规则"),
    "version": ("version {version}", "版本 {version}"),
    "history": ("version {version} · {time} · {user}", "版本 {version} · {time} · {user}"),
    "no_history": ("no rules were ever in force here", "此处从未有过生效的规则"),
    "first": ("the first rules", "最初的规则"),
    "first_changes": ("the first rules; other than the defaults:", "最初的规则；与默认值的不同："),
    "same": ("only the text changed, no rule", "只改了文字，规则未变"),
    "unreadable": (
        "this version of Roost cannot read that text any more: {problem}",
        "此版本的 Roost 已无法读取该文本：{problem}",
    ),
}
