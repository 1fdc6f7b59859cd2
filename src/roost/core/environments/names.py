"""Names of environments: one's own ("ml"), somebody's shared one ("ann/ml"). A name becomes a path
in a job, so everything that could lead elsewhere is refused here."""

from __future__ import annotations

import re

MAX_NAME = 64
OWN_ROOT = "~/.local/share/roost/envs"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}", re.ASCII)
_OWNER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@+-]{0,63}", re.ASCII)


def is_name(text: str) -> bool:
    """Whether it may name an environment: begins with a letter or digit, no slash, no space."""
    return _NAME.fullmatch(text) is not None


def is_owner(text: str) -> bool:
    return _OWNER.fullmatch(text) is not None


def is_reference(text: str) -> bool:
    """Whether it is "NAME" or "OWNER/NAME"."""
    return split(text) is not None


def split(text: str) -> tuple[str, str] | None:
    """("", "ml") of "ml", ("ann", "ml") of "ann/ml"; None of what is neither."""
    owner, slash, name = text.rpartition("/")
    if not is_name(name) or (slash and not is_owner(owner)):
        return None
    return owner, name
