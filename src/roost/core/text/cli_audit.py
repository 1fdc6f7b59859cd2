"""What `roost audit` shows around the findings."""

MESSAGES: dict[str, tuple[str, str]] = {
    "severity.high": ("HIGH", "高风险"),
    "severity.medium": ("MEDIUM", "中风险"),
    "severity.low": ("LOW", "低风险"),
    "severity.note": ("NOTE", "提示"),
    "risk": ("Risk: {risk}", "风险：{risk}"),
    "remedy": ("Do: {remedy}", "处理：{remedy}"),
    "fixable": ("Or: roost audit --fix {check}", "或：roost audit --fix {check}"),
    "accepted": ("accepted ({reason}): {text}", "已接受（{reason}）：{text}"),
    "unseen": ("not looked at: {title}: {text}", "未检查：{title}：{text}"),
    "summary": (
        "{made} checks: {high} high, {medium} medium, {low} low, {note} notes, {accepted} accepted",
        "{made} 项检查：高风险 {high}，中风险 {medium}，低风险 {low}，提示 {note}，"
        "已接受 {accepted}",
    ),
    "summary_own": (
        "{made} checks of what is yours: {high} high, {medium} medium, {low} low, {note} notes,"
        " {accepted} accepted; operators see the whole machine",
        "对你自己的 {made} 项检查：高风险 {high}，中风险 {medium}，低风险 {low}，提示 {note}，"
        "已接受 {accepted}；管理员可见整台机器",
    ),
    "undoable": (
        "roost audit --undo takes back {count} changes of --fix",
        "roost audit --undo 可撤销 --fix 的 {count} 处改动",
    ),
    "nothing_to_fix": ("nothing that --fix can mend", "没有 --fix 能修复的"),
    "nothing_to_undo": ("no change of --fix to take back", "没有可撤销的改动"),
    "would_change": ("{count} changes:", "共 {count} 处改动："),
    "would_undo": ("{count} changes to take back:", "将撤销 {count} 处改动："),
    "ask": ("Make these {count} changes? [y/N]", "执行这 {count} 处改动？[y/N]"),
    "not_done": ("nothing was changed", "未作任何改动"),
}
