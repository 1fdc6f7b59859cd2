"""mail.toml: what is understood, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from roost.server.notify.mail import _dotted, compose
from roost.server.notify.settings import MailSettingsError, read_settings

BASE = 'host = "mail.lab"\nfrom = "roost@lab.org"\ndomain = "lab.org"\n'


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "mail.toml"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_no_file_is_no_mail(tmp_path: Path) -> None:
    assert read_settings(tmp_path / "mail.toml") is None


def test_a_person_has_the_domain_or_what_is_written_for_them(tmp_path: Path) -> None:
    own = '[people.li]\naddress = "li@other.org"\nlanguage = "zh"\noff = ["all"]\n'
    settings = read_settings(written(tmp_path, BASE + own))
    assert settings is not None
    assert settings.port == 587, "STARTTLS unless something else is said"
    mei, li = settings.recipient("mei"), settings.recipient("li")
    assert mei is not None and (mei.address, mei.language) == ("mei@lab.org", "en")
    assert li is not None and (li.address, li.language) == ("li@other.org", "zh")
    assert settings.recipient("a b\r\nBcc: x") is None


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("tsl = 'none'", "tsl is unknown"),
        ("tls = 'none'\nuser = 'u'\npassword = 'p'", "a password over the network"),
        ("language = 'fr'", "language"),
        ("quiet = 'nights'", "22:00-07:00"),
        ("[people.li]\naddress = 'li'", "people.li.address"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, more: str, said: str) -> None:
    with pytest.raises(MailSettingsError, match=said):
        read_settings(written(tmp_path, BASE + more))


def test_a_file_that_everybody_can_read_or_a_link_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MailSettingsError, match="chmod"):
        read_settings(written(tmp_path, BASE, 0o644))
    link = tmp_path / "link.toml"
    link.symlink_to(written(tmp_path, BASE))
    with pytest.raises(MailSettingsError):
        read_settings(link)


def test_a_message_is_the_same_each_time_and_a_line_of_one_dot_does_not_end_it(
    tmp_path: Path,
) -> None:
    settings = read_settings(written(tmp_path, BASE))
    assert settings is not None
    once = compose(settings, "li@lab.org", "k1", "预约", ("a", ".", "b"), 0.0)
    assert once == compose(settings, "li@lab.org", "k1", "预约", ("a", ".", "b"), 0.0)
    assert b"Message-ID: <k1@lab.org>\r\n" in once
    assert _dotted(b"a\r\n.\r\nb\r\n") == b"a\r\n..\r\nb\r\n.\r\n"
