"""Statements given straight to the driver: their errors, and a connection that is lost."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from roost.store import log
from roost.store.database import Store, open_url
from roost.store.errors import StoreError
from roost.store.submissions import add_submissions


def _metas(store: Store) -> list[str | None]:
    with store.read() as connection:
        return [log.get_meta(connection, key) for key in ("a", "b", "c")]


@pytest.mark.parametrize("rows", [1, 2])
def test_a_statement_that_fails_is_said_and_undoes_what_came_before_it(
    store: Store, rows: int
) -> None:
    twice = {(1, f"k{number}"): (number, 1) for number in range(rows)}
    with store.write() as connection:
        add_submissions(connection, twice, 1.0)
        log.set_meta(connection, "a", "before")

    def again() -> None:
        with store.write() as connection:
            log.set_meta(connection, "a", "after")
            add_submissions(connection, twice, 1.0)

    with pytest.raises(StoreError) as failed:
        again()
    assert failed.value.code == "failed"
    assert "submissions" in str(failed.value)
    assert _metas(store) == ["before", None, None]
    with store.write() as connection:
        log.set_meta(connection, "b", "later")
        add_submissions(connection, {(2, "k"): (9, 1)}, 2.0)
    assert _metas(store) == ["before", "later", None]


def test_a_session_that_the_database_ended_fails_once_and_is_opened_anew(
    postgresql_url: str,
) -> None:
    store = open_url(postgresql_url)
    with store.write() as connection:
        log.set_meta(connection, "a", "1")
        session = connection.execute(text("SELECT pg_backend_pid()")).scalar()
    with store.read() as connection:
        connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": session})
    with pytest.raises(StoreError), store.write() as connection:
        log.set_meta(connection, "b", "2")
    with store.write() as connection:
        log.set_meta(connection, "c", "3")
    assert _metas(store) == ["1", None, "3"]
    store.close()
