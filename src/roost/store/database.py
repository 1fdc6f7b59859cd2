"""Opens the database, migrates it, and holds it against a second daemon.

SQLite by default, PostgreSQL by URL. One connection writes and holds the lock; others read. Knows
no table but Alembic's.
"""

from __future__ import annotations

import fcntl
import os
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, exc, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.pool import StaticPool

from roost.store.errors import StoreError, detail_of, store_error
from roost.store.prepared import execute

HEAD = "0011"
APPLICATION_ID = 0x526F_6F73  # "Roos" in the SQLite header, so that `file` and we know it
QUICK_CHECK_BELOW_BYTES = 64 * 1024 * 1024
LOCK_WAIT_S = 5.0


class Store:
    """An open database. `write` is for the one thread that owns the writer connection."""

    def __init__(self, writer: Engine, reader: Engine, where: str, lock_fd: int | None) -> None:
        self._writer = writer
        self._reader = reader
        self.where = where
        self._lock_fd = lock_fd
        self.sqlite = writer.dialect.name == "sqlite"

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction, durable when it returns. Raises StoreError with nothing changed."""
        try:
            with self._writer.begin() as connection:
                yield connection
        except exc.SQLAlchemyError as error:
            raise store_error(error, self.where) from error

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent view, from any thread. Raises StoreError."""
        try:
            with self._reader.connect() as connection:
                yield connection
        except exc.SQLAlchemyError as error:
            raise store_error(error, self.where) from error

    def close(self) -> None:
        self._reader.dispose()
        self._writer.dispose()
        if self._lock_fd is not None:
            os.close(self._lock_fd)
            self._lock_fd = None


def open_sqlite(path: Path) -> Store:
    """The database file at `path`, made and migrated where needed, and locked.

    Raises StoreError: locked, corrupt, foreign, newer, unreachable, full.
    """
    path = path.absolute()
    where = str(path)
    lock_fd = _lock_file(path)
    try:
        _check_header(path)
        url = URL.create("sqlite+pysqlite", database=where)
        writer = create_engine(url, poolclass=StaticPool, connect_args={"check_same_thread": False})
        reader = create_engine(url, pool_size=4, connect_args={"check_same_thread": False})
        _sqlite_ways(writer, "BEGIN IMMEDIATE")
        _sqlite_ways(reader, "BEGIN")
        try:
            with writer.connect() as connection:
                _check_sqlite(connection, path)
            _migrate(writer, where)
            path.chmod(0o600)
        except exc.OperationalError as error:
            failed = store_error(error, where)
            if failed.code == "full":
                raise failed from error
            raise StoreError("unreachable", where=where, detail=detail_of(error)) from error
        except exc.DatabaseError as error:
            raise StoreError("corrupt", where=where, detail=detail_of(error)) from error
    except BaseException:
        os.close(lock_fd)
        raise
    return Store(writer, reader, where, lock_fd)


def _lock_file(path: Path) -> int:
    lock = path.with_name(path.name + ".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise StoreError("unreachable", where=str(path), detail=str(error)) from error
    deadline = time.monotonic() + 1.0
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > deadline:
                pid = os.pread(fd, 20, 0).decode("ascii", "replace").strip() or "?"
                os.close(fd)
                raise StoreError("locked", pid=pid, where=str(path.parent)) from None
            time.sleep(0.05)
    os.ftruncate(fd, 0)
    try:
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
    except OSError:
        # A full disk: the lock itself holds, only the number in the other's refusal is missing.
        os.ftruncate(fd, 0)
    return fd


def _check_header(path: Path) -> None:
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError("unreachable", where=str(path), detail=str(error)) from error
    if head and head != b"SQLite format 3\0":
        raise StoreError("foreign", where=str(path), detail="no_sqlite")


SQLITE_WAYS = (
    "busy_timeout=10000",
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "cache_size=-16000",
    "wal_autocheckpoint=2000",
)


def _sqlite_ways(engine: Engine, begin: str) -> None:
    @event.listens_for(engine, "connect")
    def connected(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        for pragma in SQLITE_WAYS:
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        execute(connection, begin, [()])


def _check_sqlite(connection: Connection, path: Path) -> None:
    found = connection.exec_driver_sql("PRAGMA application_id").scalar()
    tables = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar()
    if found not in (0, APPLICATION_ID) or (tables and found != APPLICATION_ID):
        raise StoreError("foreign", where=str(path), detail="other_program")
    if path.stat().st_size < QUICK_CHECK_BELOW_BYTES:
        verdict = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
        if verdict != "ok":
            raise StoreError("corrupt", where=str(path), detail=str(verdict))


def open_url(address: str) -> Store:
    """A PostgreSQL database by URL, migrated and locked. Raises StoreError."""
    try:
        url = make_url(address)
    except exc.ArgumentError:
        raise StoreError("bad_url", where=address) from None
    if url.get_backend_name() != "postgresql":
        raise StoreError("bad_url", where=url.render_as_string(hide_password=True))
    url = url.set(drivername="postgresql+psycopg")
    where = url.render_as_string(hide_password=True)
    try:
        writer = create_engine(url, poolclass=StaticPool)
        reader = create_engine(url, pool_size=4, pool_pre_ping=True)
    except ModuleNotFoundError:
        raise StoreError("no_driver") from None
    try:
        _lock_postgresql(writer, where)
        _migrate(writer, where)
    except exc.DatabaseError as error:
        writer.dispose()
        raise StoreError("unreachable", where=where, detail=detail_of(error)) from error
    except BaseException:
        writer.dispose()
        raise
    return Store(writer, reader, where, None)


def _lock_postgresql(writer: Engine, where: str) -> None:
    """An advisory lock of the writer's own session: who loses the session can write no more."""

    @event.listens_for(writer, "connect")
    def connected(connection: Any, _record: Any) -> None:
        connection.autocommit = True
        schema = connection.execute("SELECT coalesce(current_schema(), '')").fetchone()[0]
        key = zlib.crc32(f"roost:{schema}".encode())
        deadline = time.monotonic() + LOCK_WAIT_S
        while not connection.execute(
            "SELECT pg_try_advisory_lock(%s, %s)", (0x526F6F73, key - 2**31)
        ).fetchone()[0]:
            if time.monotonic() > deadline:
                connection.close()
                raise StoreError("locked_database", where=where)
            time.sleep(0.1)
        connection.autocommit = False

    with writer.connect():
        pass


def _migrate(writer: Engine, where: str) -> None:
    """Brings the schema to HEAD in one transaction. Alembic is loaded only where it is needed."""
    with writer.begin() as connection:
        tables = set(inspect(connection).get_table_names())
        current = None
        if "alembic_version" in tables:
            current = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        elif "jobs" in tables or "meta" in tables:
            raise StoreError("foreign", where=where, detail="other_tables")
        if current == HEAD:
            return
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")
        from alembic import command
        from alembic.config import Config
        from alembic.script import ScriptDirectory

        config = Config()
        config.set_main_option("script_location", "roost.store:migrations")
        known = {s.revision for s in ScriptDirectory.from_config(config).walk_revisions()}
        if current is not None and current not in known:
            raise StoreError("newer", where=where, schema=current, known=HEAD)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
