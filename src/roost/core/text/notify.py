"""What is refused of people's choices of notices and of their channels."""

MESSAGES = {
    "address_unreadable": (
        "the address cannot be read: paste the webhook's address as the service gives it",
        "无法识别该地址：请粘贴服务给出的 webhook 地址",
    ),
    "address_scheme": (
        "addresses of {scheme}:// are not used: known are slack, dingtalk, feishu, wecombot and"
        " tgram, and http(s) for webhooks",
        "不支持 {scheme}:// 地址：可用 slack、dingtalk、feishu、wecombot、tgram，"
        "webhook 用 http(s)",
    ),
    "address_with_user": (
        "an address with a name or password in it is not used",
        "不支持带有用户名或密码的地址",
    ),
    "address_of_service": (
        "this is no webhook address that {origin} gives out: paste it whole",
        "这不是 {origin} 给出的 webhook 地址：请完整粘贴",
    ),
    "service_not_allowed": (
        "the operators do not allow {kind} here (mail.toml: channels.services)",
        "管理员未允许使用 {kind}（mail.toml：channels.services）",
    ),
    "webhook_not_allowed": (
        "the operators do not allow webhooks to {origin} (mail.toml: channels.webhooks)",
        "管理员未允许向 {origin} 发送 webhook（mail.toml：channels.webhooks）",
    ),
    "no_channel": ("there is no channel {channel} of yours", "你没有渠道 {channel}"),
    "too_many_channels": (
        "{user} has {limit} channels: remove some first",
        "{user} 已有 {limit} 个渠道：请先删除一些",
    ),
    "quiet_unreadable": (
        'quiet hours are said as "22:00-07:00", or "" for none',
        '免打扰时段写作 "22:00-07:00"，"" 表示没有',
    ),
    "no_topic": (
        "there is no topic {topic}: known are {topics}",
        "没有主题 {topic}：可用 {topics}",
    ),
    "tests_too_often": (
        "tests were asked for too often: try again in {wait_s} seconds",
        "测试过于频繁：请在 {wait_s} 秒后重试",
    ),
    "not_set_up": (
        "nothing can be sent here: the operators have not set it up (mail.toml)",
        "这里还不能发送通知：管理员尚未配置（mail.toml）",
    ),
}
