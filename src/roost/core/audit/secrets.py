"""Finds what looks like a secret in a command line, and shows where it is without showing it.

Only the program and the piece around the secret are told, so that a second one that nobody knows
the looks of is not told either.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from roost.core.text.printable import printable

MASK = "****"
LEAST = 6
MOST_WORDS = 4096
MOST_BYTES = 128 * 1024
_NAMES = (
    rb"password|passwd|passphrase|token|access-token|auth-token|api-token|hf-token|bearer-token"
    rb"|api-key|apikey|secret|secret-key|client-secret|access-key|secret-access-key|wandb-key"
    rb"|wandb-api-key|private-key"
)
_OPTION = re.compile(rb"--?(?:[a-z0-9]+-)??(?:" + _NAMES + rb")", re.IGNORECASE)
_VALUE = rb"(\"[^\"]*\"|'[^']*'|[^\s\"']+)"
_INSIDE = re.compile(
    rb"(?:^|(?<=[\s;&|(\"']))(" + _OPTION.pattern + rb")(=|\s+)" + _VALUE, re.IGNORECASE
)
_VARIABLE = re.compile(
    rb"(?:^|(?<=[\s;&|(\"']))([A-Za-z0-9_]*(?:PASSWORD|PASSWD|TOKEN|SECRET|API_KEY|ACCESS_KEY"
    rb"|SECRET_KEY))=" + _VALUE
)
_URL = re.compile(
    rb"([A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"']{0,80}):([^\s/@\"']+)@([^\s/:\"']{0,80})"
)
# What some services' secrets look like, wherever they stand.
_SHAPES = (
    ("hugging_face", re.compile(rb"\bhf_[A-Za-z0-9]{30,}")),
    ("api_key", re.compile(rb"\bsk-[A-Za-z0-9_-]{20,}")),
    ("github", re.compile(rb"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})")),
    ("gitlab", re.compile(rb"\bglpat-[A-Za-z0-9_-]{20,}")),
    ("aws", re.compile(rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("slack", re.compile(rb"\bxox[abeprs]-[A-Za-z0-9-]{10,}")),
    ("google", re.compile(rb"\bAIza[0-9A-Za-z_-]{35}")),
    ("jwt", re.compile(rb"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")),
    ("roost", re.compile(rb"\broost_[A-Za-z0-9_-]{40,}")),
)


def secret_in(words: Sequence[bytes]) -> tuple[str, str] | None:
    """(kind, the command with its first secret masked), None where nothing looks like one."""
    found = next(_found(_bounded(words)), None)
    if found is None:
        return None
    kind, piece = found
    return kind, f"{_program(words)} … {_shown(piece)}"


def _bounded(words: Sequence[bytes]) -> list[bytes]:
    kept, size = [], 0
    for word in words[:MOST_WORDS]:
        size += len(word)
        if size > MOST_BYTES:
            break
        kept.append(word)
    return kept


def _found(words: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    mask = MASK.encode()
    for at, word in enumerate(words):
        if (url := _URL.search(word)) and _secret(url[2]):
            yield "url", url[1] + b":" + mask + b"@" + url[3]
        name, equals, value = word.partition(b"=")
        if _OPTION.fullmatch(name):
            if not equals and at + 1 < len(words):
                value, equals = words[at + 1], b" "
            if equals and _secret(value):
                yield "option", name + equals + mask
        elif at and (inside := _INSIDE.search(word)) and _secret(inside[3]):
            yield "option", inside[1] + inside[2][:1] + mask
        if (variable := _VARIABLE.search(word)) and _secret(variable[2]):
            yield "variable", variable[1] + b"=" + mask
        for kind, shape in _SHAPES:
            if shape.search(word):
                yield kind, mask


def _secret(value: bytes) -> bool:
    """Whether a value can be a secret: no path, variable, number, other option or empty word."""
    value = value.strip(b"\"'")
    if len(value) < LEAST or value.isdigit() or set(value) <= set(b"*xX."):
        return False
    if value.lower() in (b"prompt", b"secret", b"password", b"required", b"optional"):
        return False
    return value[:1] not in (b"/", b"$", b"@", b"-", b"<", b"{", b"~", b"=")


def _program(words: Sequence[bytes]) -> str:
    name = os.path.basename(words[0].split()[0]) if words and words[0].split() else b"?"
    shaped = any(shape.search(name) for _, shape in _SHAPES) or b"=" in name or b"@" in name
    return MASK if shaped else printable(name[:40])


def _shown(piece: bytes) -> str:
    return printable(piece[:200])
