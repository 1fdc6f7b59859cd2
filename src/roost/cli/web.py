"""Where `roost serve` and `roost server` serve the page: from options, then from the environment.

A unit of systemd is told by its environment (`systemctl edit roost-server`), see docs/signin.md.
"""

from __future__ import annotations

import os

from roost.cli.failure import CommandError
from roost.core.text.catalogue import say
from roost.core.web import WebError, WebSettings, web_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from roost.cli.context import Context


def web_of(context: Context) -> WebSettings | None:
    """None where no page is served. Raises CommandError for what cannot be served so."""
    option, environment = context.option, os.environ.get
    http = option("http") or environment("ROOST_HTTP")
    if not http:
        return None
    certificate = option("tls_cert") or environment("ROOST_TLS_CERT")
    key = option("tls_key") or environment("ROOST_TLS_KEY")
    try:
        return web_settings(
            http,
            option("http_prefix") or environment("ROOST_HTTP_PREFIX") or "",
            os.path.abspath(certificate) if certificate else None,
            os.path.abspath(key) if key else None,
            option("http_name") or (environment("ROOST_HTTP_NAMES") or "").split(),
            option("trusted_proxy") or (environment("ROOST_TRUSTED_PROXIES") or "").split(),
        )
    except WebError as error:
        text = say(context.terminal.language, f"web.{error.code}", **error.numbers)
        raise CommandError("web", 2, text=text) from None


def words_of(web: WebSettings | None) -> tuple[str, ...]:
    """The options that say the same to another `roost server`."""
    if web is None:
        return ()
    host = f"[{web.host}]" if ":" in web.host else web.host
    words = ["--http", f"{host}:{web.port}"]
    if web.prefix:
        words += ["--http-prefix", web.prefix]
    if web.certificate and web.key:
        words += ["--tls-cert", web.certificate, "--tls-key", web.key]
    for name in web.names:
        words += ["--http-name", name]
    for proxy in web.proxies:
        words += ["--trusted-proxy", str(proxy)]
    return tuple(words)
