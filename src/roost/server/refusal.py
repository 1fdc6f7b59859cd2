"""What the server says no to, as an exception that the API turns into a problem document."""

from __future__ import annotations

from typing import Any

from roost.core.text.catalogue import say


class RefusalError(Exception):
    """Not done, and nothing changed. `message` is `area.code` of the catalogue, `status` of HTTP.

    `extra` are further members of the problem document, such as "key" and "limit".
    """

    def __init__(
        self,
        status: int,
        message: str,
        extra: dict[str, Any] | None = None,
        **numbers: object,
    ) -> None:
        self.status = status
        self.message = message
        self.numbers = numbers
        self.extra = extra or {}
        super().__init__(message)

    @property
    def code(self) -> str:
        return self.message.rsplit(".", 1)[-1]

    def said(self, language: str) -> str:
        return say(language, self.message, **self.numbers)
