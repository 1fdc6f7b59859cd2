"""SSH public keys as a line of authorized_keys(5) without options. Pure."""

from __future__ import annotations

import base64
import binascii
import re

# sshd's PubkeyAcceptedAlgorithms without DSA, which OpenSSH has dropped.
KINDS = frozenset(
    {
        "ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384",
        "ecdsa-sha2-nistp521", "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com",
    }
)  # fmt: skip
MOST_CHARACTERS = 8192
LEAST_RSA_BITS = 2048
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}\Z")


class KeyProblemError(ValueError):
    """`code` names a message of the `account` catalogue."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def read_key(text: str) -> str:
    """The key as "TYPE BASE64 COMMENT", the blanks between made single.

    Raises KeyProblemError: several lines, a private key, options before it, an unknown or weak
    type, or data that is not of that type (RFC 4253, section 6.6).
    """
    line = text.strip(" \t")
    if "PRIVATE KEY" in line:
        raise KeyProblemError("key_private")
    if len(line.splitlines()) > 1 or not line.replace("\t", " ").isprintable():
        raise KeyProblemError("key_lines")
    words = line.split(None, 2)
    if not words or len(line) > MOST_CHARACTERS:
        raise KeyProblemError("key_unknown")
    if words[0] not in KINDS:
        later = any(word in KINDS for word in line.split())
        raise KeyProblemError("key_options" if later else "key_unknown")
    if len(words) < 2 or not _BASE64.match(words[1]):
        raise KeyProblemError("key_damaged")
    parts = _parts(words[1])
    if not parts or parts[0] != words[0].encode():
        raise KeyProblemError("key_damaged")
    if words[0] == "ssh-rsa" and (len(parts) != 3 or _bits(parts[2]) < LEAST_RSA_BITS):
        raise KeyProblemError("key_weak")
    comment = words[2] if len(words) > 2 else ""
    return " ".join(part for part in (words[0], words[1], comment.strip()) if part)


def same_key(line: str) -> str:
    """What makes a key that key: its type and data. "" for a line that is none, or has options."""
    words = line.split(None, 2)
    return f"{words[0]} {words[1]}" if len(words) > 1 and words[0] in KINDS else ""


def keys_of(text: str) -> tuple[str, ...]:
    """The keys of a text of authorized_keys, without comments, options and what is none."""
    return tuple(found for line in text.splitlines() if (found := same_key(line.strip())))


def _parts(data: str) -> list[bytes]:
    """The length-prefixed strings of an SSH key; [] where it is cut off or too long."""
    try:
        blob = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return []
    found, at = [], 0
    while at < len(blob):
        size = int.from_bytes(blob[at : at + 4], "big")
        if at + 4 + size > len(blob):
            return []
        found.append(blob[at + 4 : at + 4 + size])
        at += 4 + size
    return found if len(found) > 1 else []


def _bits(number: bytes) -> int:
    return int.from_bytes(number, "big").bit_length()
