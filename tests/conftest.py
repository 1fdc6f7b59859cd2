"""What several parts' tests share: a PostgreSQL cluster of the test run's own, on a Unix socket.

No property has a deadline."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

POSTGRESQL = Path("/usr/lib/postgresql")

# A property is true or not, however long a busy machine took over one example.
settings.register_profile("roost", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("roost")


def _binaries() -> Path | None:
    found = sorted(POSTGRESQL.glob("*/bin/initdb"), key=lambda p: int(p.parts[-3]))
    return found[-1].parent if found else None


@pytest.fixture(scope="session")
def postgresql_cluster() -> Iterator[str]:
    """A private cluster; yields the start of URLs, without a database's name.

    PostgreSQL refuses to run as root, so as root it runs as the account postgres.
    """
    binaries = _binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server program is installed")
    folder = Path(tempfile.mkdtemp(prefix="roost-pg-"))
    who: dict[str, object] = {}
    name = pwd.getpwuid(os.getuid()).pw_name
    if os.getuid() == 0:
        entry = pwd.getpwnam("postgres")
        os.chown(folder, entry.pw_uid, entry.pw_gid)
        folder.chmod(0o711)  # the daemon's server, which is neither, finds the socket in it
        who = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        name = "postgres"
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(folder)}
    common = {"env": environment, "cwd": "/", "stdin": subprocess.DEVNULL, **who}
    data = folder / "data"
    log = (folder / "log").open("wb")
    subprocess.run(
        [binaries / "initdb", "-D", data, "-A", "trust", "-E", "UTF8", "--no-sync"],
        check=True, stdout=log, stderr=log, **common,
    )  # fmt: skip
    server = subprocess.Popen(
        [binaries / "postgres", "-D", data, "-k", folder, "-h", "", "-c", "fsync=off"],
        stdout=log, stderr=log, **common,
    )  # fmt: skip
    try:
        for _ in range(100):
            ready = subprocess.run(
                [binaries / "pg_isready", "-h", folder], capture_output=True, **common
            )
            if ready.returncode == 0:
                break
            assert server.poll() is None, (folder / "log").read_text()
            subprocess.run(["sleep", "0.1"], check=True)
        yield f"postgresql+psycopg://{name}@/%s?host={folder}"
    finally:
        server.terminate()
        server.wait(20)
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgresql_url(postgresql_cluster: str) -> str:
    """The URL of a new, empty database."""
    from sqlalchemy import create_engine, text

    name = f"roost_{uuid.uuid4().hex[:12]}"
    admin = create_engine(postgresql_cluster % "postgres", isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    admin.dispose()
    return postgresql_cluster % name
