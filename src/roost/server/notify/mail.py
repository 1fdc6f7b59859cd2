"""One message to one mail server, and what is known afterwards. It must not know of the database.

What counts is whether the server may have the message: it has it from the end of the data on, so
that an answer that never came leaves it unknown (RFC 5321, 4.5.3.2.6 and 6.1).
"""

from __future__ import annotations

import smtplib
import ssl
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP

from roost.server.notify.outcomes import LaterError, RefusedError, UnknownError
from roost.server.notify.settings import MailSettings

TIMEOUT_S = 20.0


def compose(
    settings: MailSettings, address: str, key: str, subject: str, lines: tuple[str, ...], now: float
) -> bytes:
    """The message. `key` makes its Message-ID, the same however often it is made."""
    message = EmailMessage(policy=SMTP)
    message["From"] = f"Roost <{settings.sender}>"
    message["To"] = address
    message["Subject"] = subject
    message["Date"] = datetime.fromtimestamp(now, UTC)
    message["Message-ID"] = f"<{key}@{settings.sender.partition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content("\n".join(lines) + "\n")
    return message.as_bytes()


def send(settings: MailSettings, address: str, raw: bytes, timeout_s: float = TIMEOUT_S) -> None:
    """Returns when the mail server has taken it. Raises LaterError, RefusedError, UnknownError."""
    try:
        with _connect(settings, timeout_s) as smtp:
            _hand_over(smtp, settings, address, raw)
    except (smtplib.SMTPException, OSError) as error:
        raise LaterError(_said(error), whole=True) from error


def _connect(settings: MailSettings, timeout_s: float) -> smtplib.SMTP:
    trusted = ssl.create_default_context()
    if settings.tls == "tls":
        smtp: smtplib.SMTP = smtplib.SMTP_SSL(
            settings.host, settings.port, timeout=timeout_s, context=trusted
        )
    else:
        smtp = smtplib.SMTP(settings.host, settings.port, timeout=timeout_s)
    try:
        if settings.tls == "starttls":
            smtp.starttls(context=trusted)
        if settings.password:
            smtp.login(settings.user, settings.password)
        smtp.ehlo_or_helo_if_needed()
    except BaseException:
        smtp.close()
        raise
    return smtp


def _hand_over(smtp: smtplib.SMTP, settings: MailSettings, address: str, raw: bytes) -> None:
    _expect(250, *smtp.mail(settings.sender))
    _expect(250, *smtp.rcpt(address))
    _expect(354, *smtp.docmd("DATA"))
    smtp.send(_dotted(raw))
    try:
        code, answer = smtp.getreply()
    except (smtplib.SMTPException, OSError) as error:
        smtp.close()
        raise UnknownError(_said(error)) from error
    _expect(250, code, answer)


def _dotted(raw: bytes) -> bytes:
    """Lines that begin with a dot get another, and the end (RFC 5321, 4.5.2)."""
    lines = raw.removesuffix(b"\r\n").split(b"\r\n")
    return b"\r\n".join(b"." + s if s.startswith(b".") else s for s in lines) + b"\r\n.\r\n"


def _expect(wanted: int, code: int, answer: bytes) -> None:
    if code == wanted or (wanted == 250 and code == 251):
        return
    why = f"{code} {answer.decode('utf-8', 'replace')}"[:300]
    if 500 <= code < 600:
        raise RefusedError(why)
    raise LaterError(why, whole=code == 421)


def _said(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:300]
