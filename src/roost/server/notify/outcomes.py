"""What can become of a message other than that it arrived."""

from __future__ import annotations


class LaterError(Exception):
    """Nothing was delivered; it may work later. `whole`: the other side itself does not answer."""

    def __init__(self, why: str, whole: bool) -> None:
        super().__init__(why)
        self.whole = whole


class RefusedError(Exception):
    """The other side will not have it, now or later."""


class UnknownError(Exception):
    """The other side may have it or not."""
