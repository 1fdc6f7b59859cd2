"""What the API's door says to whoever asks for too much of it at once."""

MESSAGES = {
    "memory_small": (
        "{bytes} bytes of memory were asked for: no program starts with less than 16M",
        "请求了 {bytes} 字节内存：少于 16M 时任何程序都无法启动",
    ),
    "too_many_parts": (
        "the request holds more than {limit} values",
        "请求包含的值超过 {limit} 个",
    ),
    "too_many_streams": (
        "{user} watches {limit} times already: end some `roost top`",
        "{user} 已有 {limit} 个实时视图：请结束一些 `roost top`",
    ),
    "too_many_connections": (
        "{user} has more than {limit} connections open: end some `roost wait`, `roost run` or"
        " `roost top`, or use one connection for many requests",
        "{user} 打开的连接超过 {limit} 个：请结束一些 `roost wait`、`roost run` 或 `roost top`，"
        "或用同一连接发送多个请求",
    ),
}
