"""What is said of the page's listener: addresses, TLS, proxies, hosts, a page not built."""

MESSAGES = {
    "bad_address": (
        "--http {address}: give HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080",
        "--http {address}：请写成 主机:端口，例如 127.0.0.1:8080 或 [::1]:8080",
    ),
    "bad_prefix": (
        "--http-prefix {prefix}: a path such as /roost, of letters, digits and . _ ~ -",
        "--http-prefix {prefix}：应为 /roost 这样的路径，只含字母、数字和 . _ ~ -",
    ),
    "half_a_certificate": (
        "--tls-cert and --tls-key belong together: give both files",
        "--tls-cert 与 --tls-key 须同时给出",
    ),
    "plain_http": (
        "--http {host}:{port} is refused without TLS: passwords would cross the network in the"
        " clear. Add --tls-cert FILE --tls-key FILE, or serve 127.0.0.1:{port} and let a proxy with"
        " TLS, or `ssh -L {port}:127.0.0.1:{port}`, reach it",
        "未启用 TLS，拒绝在 {host}:{port} 提供服务：密码会以明文经过网络。请加上 --tls-cert FILE"
        " --tls-key FILE；或只监听 127.0.0.1:{port}，由带 TLS 的反向代理或"
        " `ssh -L {port}:127.0.0.1:{port}` 访问",
    ),
    "bad_name": (
        "--http-name {name}: a host name such as gpu1.example.org, without port",
        "--http-name {name}：应为 gpu1.example.org 这样的主机名，不带端口",
    ),
    "bad_proxy": (
        "--trusted-proxy {proxy}: an address or network such as 10.0.0.5 or 10.0.0.0/24",
        "--trusted-proxy {proxy}：应为地址或网段，例如 10.0.0.5 或 10.0.0.0/24",
    ),
    "cannot_listen": (
        "cannot serve the page at {address}: {detail}. If another program has that port, choose"
        " another with --http",
        "无法在 {address} 提供网页：{detail}。若端口已被其他程序占用，请用 --http 换一个",
    ),
    "certificate": (
        "the certificate cannot be used: {detail} ({certificate}, {key}). The account that runs the"
        " server ({user}) must be able to read both files, and the key must be the certificate's",
        "证书无法使用：{detail}（{certificate}、{key}）。运行 server 的账号（{user}）必须能读取"
        "这两个文件，且私钥须与证书匹配",
    ),
    "unknown_host": (
        "Roost is not called {host} here. If people reach it by that name, start it with"
        " --http-name {host}",
        "这里的 Roost 不叫 {host}。若确由此名称访问，请在启动时加上 --http-name {host}",
    ),
    "other_site": (
        "this request was sent by the page of another site ({origin}), and is not done",
        "该请求由其他网站的页面（{origin}）发出，未执行",
    ),
    "too_many_connections": (
        "more than {limit} connections from {address}: close some",
        "来自 {address} 的连接超过 {limit} 个：请关闭一些",
    ),
    "no_page_title": (
        "Roost serves its API here, and no page",
        "此处只有 Roost 的 API，没有网页",
    ),
    "no_page": (
        "This installation was made without the page. The API is at {prefix}/v1/ and works; install"
        " Roost from a wheel, or build the page in frontend/, to have the page too.",
        "安装时未包含网页。API 位于 {prefix}/v1/，可正常使用；如需网页，请用 wheel 安装 Roost，"
        "或在 frontend/ 中构建网页。",
    ),
    "no_such_file": (
        "there is no file {path}",
        "没有文件 {path}",
    ),
}
