"""The one error of the store, said in the reader's language; its codes are in `core.text.store`."""

from __future__ import annotations

from sqlalchemy import exc

from roost.core.text.catalogue import say
from roost.core.text.printable import printable


class StoreError(Exception):
    """The database cannot be used, or a change was not made. `code` is stable for programs."""

    def __init__(self, code: str, **values: object) -> None:
        self.code = code
        self.values = values
        super().__init__(self.said("en"))

    def said(self, language: str) -> str:
        """One sentence for a person in "en" or "zh"."""
        values = dict(self.values)
        if self.code == "foreign":
            values["detail"] = say(language, f"store.foreign_{values['detail']}")
        return say(language, f"store.{self.code}", **values)


def detail_of(error: BaseException) -> str:
    """The first line of what the database's driver said, fit to show."""
    origin = getattr(error, "orig", None) or error
    lines = str(origin).strip().splitlines()
    return printable((lines[0] if lines else type(origin).__name__).encode())


def store_error(error: exc.SQLAlchemyError, where: str) -> StoreError:
    """What a failed statement means for a person: full, or failed."""
    detail = detail_of(error)
    lowered = detail.lower()
    if "disk is full" in lowered or "no space left" in lowered:
        return StoreError("full", where=where)
    return StoreError("failed", where=where, detail=detail)
