"""Statements compiled once and given to the driver as they are, for what every commit writes.

SQLAlchemy looks a statement up, prepares its values and makes a result at each execution, which
costs more than SQLite takes to do it. Knows no table; a statement here returns no rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Dialect, Table, exc
from sqlalchemy.dialects import postgresql, sqlite


class Prepared:
    """`build` makes the statement for a dialect ("sqlite", "postgresql"), once for each.

    Every value of the statement is given by every row, under the name of its column or bind.
    """

    def __init__(self, build: Callable[[str], Any]) -> None:
        self._build = build
        self._compiled: dict[tuple[str, tuple[str, ...]], _Compiled] = {}

    def __call__(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Executes it for every row; nothing for none. Raises SQLAlchemyError."""
        if not rows:
            return
        key = (connection.dialect.name, tuple(rows[0]))
        compiled = self._compiled.get(key)
        if compiled is None:
            statement = self._build(connection.dialect.name)
            compiled = self._compiled[key] = _Compiled(statement, connection.dialect, key[1])
        execute(connection, compiled.text, [compiled.parameters(row) for row in rows])


def insert_for(dialect: str, table: Table) -> Any:
    """An insert of that dialect: it can be told what to do where the row is there already."""
    return (sqlite.insert if dialect == "sqlite" else postgresql.insert)(table)


def execute(connection: Connection, text: str, parameters: list[Any]) -> None:
    """The driver's own words, once for each of `parameters` (at least one), with nothing in between
    but that errors and a lost connection are as SQLAlchemy has them.

    Raises SQLAlchemyError.
    """
    driver, dialect = connection.connection.dbapi_connection, connection.dialect
    assert driver is not None
    errors = dialect.loaded_dbapi.Error
    cursor = None
    try:
        cursor = driver.cursor()
        if len(parameters) == 1:
            cursor.execute(text, parameters[0])
        else:
            cursor.executemany(text, parameters)
        cursor.close()
    except errors as error:
        lost = dialect.is_disconnect(error, driver, cursor)
        if lost:
            connection.invalidate(error)
        raise exc.DBAPIError.instance(
            text, parameters, error, errors, connection_invalidated=lost, dialect=dialect,
            ismulti=len(parameters) > 1,
        ) from error  # fmt: skip


class _Compiled:
    def __init__(self, statement: Any, dialect: Dialect, names: tuple[str, ...]) -> None:
        # For many rows, so that nothing asks for what the database would return of one.
        made = statement.compile(dialect=dialect, column_keys=names, for_executemany=True)
        self.text = str(made)
        self._names: tuple[str, ...] = tuple(made.positiontup or made.binds)
        self._positional = made.positiontup is not None
        ways = {
            name: bind.type.dialect_impl(dialect).bind_processor(dialect)
            for name, bind in made.binds.items()
        }
        self._ways = [(at, name, ways[name]) for at, name in enumerate(self._names) if ways[name]]

    def parameters(self, row: Mapping[str, Any]) -> Any:
        """The row's values as the driver takes them."""
        if self._positional:
            values = [row[name] for name in self._names]
            for at, _, way in self._ways:
                values[at] = way(values[at])
            return tuple(values)
        named = {name: row[name] for name in self._names}
        for _, name, way in self._ways:
            named[name] = way(named[name])
        return named
