"""What is said of signing in: passwords, sessions, tokens, and what one may do without them."""

MESSAGES = {
    "sign_in_refused": (
        "name or password is not right, or this account may not sign in",
        "用户名或密码不正确，或该账号不允许登录",
    ),
    "too_many_tries": (
        "too many tries: wait {wait_s} s and try again",
        "尝试次数过多：请等待 {wait_s} 秒后再试",
    ),
    "sign_in_unavailable": (
        "passwords cannot be checked at the moment: try again in a minute; if it stays so, tell the"
        " operator to look at the agent's log",
        "暂时无法验证密码：请一分钟后再试；若仍如此，请让管理员查看 agent 的日志",
    ),
    "no_oidc": (
        "this Roost has no OpenID Connect provider: sign in with your account's password"
        " (rules: [oidc])",
        "此 Roost 未配置 OpenID Connect：请用账号密码登录（规则：[oidc]）",
    ),
    "oidc_plain": (
        "signing in by the provider takes HTTPS: this address is in the clear",
        "使用身份提供方登录需要 HTTPS：当前地址未加密",
    ),
    "oidc_away": (
        "the provider cannot be asked at the moment: sign in with your password, or try again in"
        " a minute; the operator finds the reason in the server's log",
        "暂时无法连接身份提供方：请用密码登录，或一分钟后再试；原因见服务器日志",
    ),
    "not_signed_in": (
        "sign in first",
        "请先登录",
    ),
    "account_disabled": (
        "the account {user} is disabled: an operator can enable it",
        "账号 {user} 已停用：可由管理员启用",
    ),
    "session_over": (
        "your session is over: sign in again",
        "登录已失效：请重新登录",
    ),
    "bad_token": (
        "this token is not known, was revoked, or has expired: make a new one with"
        " `roost token create`",
        "令牌不存在、已吊销或已过期：请用 `roost token create` 新建",
    ),
    "csrf": (
        "the header X-Roost-CSRF is missing or not this session's: load the page again",
        "缺少 X-Roost-CSRF 头或与当前登录不符：请重新加载页面",
    ),
    "not_a_session": (
        "there is no session here: who calls over the Unix socket is known without one",
        "此处没有登录会话：通过 Unix 套接字访问时无需登录",
    ),
    "only_web": (
        "signing in is for the page: over the Unix socket the kernel says who is calling",
        "登录只用于网页：通过 Unix 套接字访问时由内核确认身份",
    ),
    "no_session": (
        "there is no session {id} of yours",
        "你没有编号为 {id} 的登录会话",
    ),
    "no_token": (
        "there is no token {id} of yours",
        "你没有编号为 {id} 的令牌",
    ),
    "scope_missing": (
        "this token may not do this: it needs the scope {scope}, and has {scopes}",
        "该令牌无权执行此操作：需要权限范围 {scope}，现有 {scopes}",
    ),
    "not_by_token": (
        "a token cannot do this: sign in, or use the command line on the server",
        "令牌不能执行此操作：请登录网页，或在服务器上使用命令行",
    ),
    "too_many_tokens": (
        "{user} has {limit} tokens: revoke some first",
        "{user} 已有 {limit} 个令牌：请先吊销一些",
    ),
    "no_tokens_for": (
        "{user} can have no token: tokens are for the accounts of people, and not for root, system"
        " accounts and those that are locked or expired",
        "{user} 不能拥有令牌：令牌只用于个人账号，不用于 root、系统账号及已锁定或过期的账号",
    ),
    "viewers_only_look": (
        "{user} may look, and change nothing (rules: viewers)",
        "{user} 只能查看，不能更改（规则：viewers）",
    ),
}
