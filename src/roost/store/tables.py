"""The tables as SQLAlchemy Core sees them. Migrations make them; this file must match the newest.

Times are seconds since the epoch (`*_at`), hours and minutes their start in the same unit. Bytes
stay bytes. Nothing here knows a query.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

metadata = MetaData()
# An INTEGER PRIMARY KEY is SQLite's own row number, which counts by itself.
Serial = BigInteger().with_variant(Integer(), "sqlite")

meta = Table(
    "meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("user", Text, nullable=False),
    Column("uid", BigInteger, nullable=False),
    Column("group", Text, nullable=False),
    Column("class", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("gpus", Integer, nullable=False),
    Column("gpu_memory_bytes", BigInteger),
    Column("gpu_model", Text),
    Column("gpus_most", Integer),
    Column("gpu_compute_percent", Integer),
    Column("cpus", Integer, nullable=False),
    Column("memory_bytes", BigInteger),
    Column("walltime_s", BigInteger),
    Column("submitted_at", Double, nullable=False),
    Column("begin_at", Double),
    Column("started_at", Double),
    Column("ended_at", Double),
    Column("checkpointed_at", Double),
    Column("suspended_at", Double),
    Column("suspended_s", Double, nullable=False, server_default="0"),
    Column("exit_code", Integer),
    Column("signal", Integer),
    Column("end_reason", Text),
    Column("text", Text, nullable=False),
    Column("said", Text),
    Column("gpu_s", Double, nullable=False),
    Column("busy_s", Double, nullable=False),
    Column("observed_s", Double, nullable=False),
    Column("energy_j", Double),
    Column("peak_memory_bytes", BigInteger),
    Column("cpu_s", Double),
    Column("restarts", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("after", Text, nullable=False),
    Column("array_id", BigInteger),
    Column("array_index", Integer),
    Column("array_limit", Integer),
    Column("held", Boolean, nullable=False),
    Column("requeue", Boolean, nullable=False),
    Column("pty", Boolean, nullable=False),
    Column("directory", LargeBinary, nullable=False),
    Column("output", LargeBinary),
    Column("command", LargeBinary, nullable=False),
    Column("granted", Text, nullable=False),
    Column("source", Text),
    Column("input_id", BigInteger, nullable=False),
    Column("env", Text, nullable=False, server_default=""),
    Index("jobs_live", "ended_at", "id"),
    Index("jobs_user", "user", "id"),
)

# What the job is made of, kept aside: an array's elements share one; it goes when they are over.
job_inputs = Table(
    "job_inputs",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("input", LargeBinary, nullable=False),
)

# Who asks again because no answer came is given the jobs of the first time, by the caller's key.
submissions = Table(
    "submissions",
    metadata,
    Column("uid", BigInteger, primary_key=True, autoincrement=False),
    Column("key", Text, primary_key=True),
    Column("first_job", BigInteger, nullable=False),
    Column("jobs", Integer, nullable=False),
    Column("at", Double, nullable=False),
)

attempts = Table(
    "attempts",
    metadata,
    Column("job", BigInteger, ForeignKey("jobs.id"), primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("decided_at", Double, nullable=False),
    Column("started_at", Double),
    Column("ended_at", Double),
    Column("stop_reason", Text),
    Column("stop_at", Double),
    Column("stop_grace_s", Double),
    Column("stop_requeue", Boolean),
    Column("stop_for_job", BigInteger),
    Column("stop_rule", Text),
    Column("suspend", Text, nullable=False, server_default=""),
    Column("suspend_bytes", BigInteger),
    Column("end_reason", Text),
    Column("exit_code", Integer),
    Column("signal", Integer),
    Column("done", Boolean),
    Column("text", Text, nullable=False),
)

allocations = Table(
    "allocations",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("gpu_uuid", Text, nullable=False),
    Column("job", BigInteger, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("user", Text, nullable=False),
    Column("group", Text, nullable=False),
    Column("class", Text, nullable=False),
    Column("memory_bytes", BigInteger),
    Column("share", Double, nullable=False),
    Column("from_at", Double, nullable=False),
    Column("to_at", Double),
    Column("held_through", Double, nullable=False),
    Index("allocations_open", "to_at"),
    Index("allocations_job", "job", "attempt"),
)

# Additive while its hour is open; `correction` 0 is what was measured, corrections count up.
usage = Table(
    "usage",
    metadata,
    Column("hour", BigInteger, primary_key=True, autoincrement=False),
    Column("gpu_uuid", Text, primary_key=True),
    Column("user", Text, primary_key=True),
    Column("group", Text, primary_key=True),
    Column("job", BigInteger, primary_key=True, autoincrement=False),
    Column("class", Text, primary_key=True),
    Column("correction", Integer, primary_key=True, autoincrement=False),
    Column("held_s", Double, nullable=False),
    Column("observed_s", Double, nullable=False),
    Column("busy_s", Double, nullable=False),
    Column("gb_s", Double, nullable=False),
    Column("joules", Double, nullable=False),
)


def _readings(name: str, step: str) -> Table:
    return Table(
        name,
        metadata,
        Column(step, BigInteger, primary_key=True, autoincrement=False),
        Column("gpu_uuid", Text, primary_key=True),
        Column("observed_s", Double, nullable=False),
        Column("utilisation_s", Double, nullable=False),
        Column("busy_s", Double, nullable=False),
        Column("memory_byte_s", Double, nullable=False),
        Column("joules", Double, nullable=False),
        Column("memory_max_bytes", BigInteger),
        Column("power_max_w", Double),
        Column("temperature_max_c", Integer),
    )


minutes = _readings("minutes", "minute")
hours = _readings("hours", "hour")

audit = Table(
    "audit",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("at", Double, nullable=False),
    Column("uid", BigInteger),
    Column("user", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("whom", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("origin", Text, nullable=False, server_default=""),
    Index("audit_user", "user", "id"),
)

rules_versions = Table(
    "rules_versions",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
    Column("uid", BigInteger),
    Column("user", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("text", Text, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("at", Double, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Index("events_at", "at"),
)

gpus = Table(
    "gpus",
    metadata,
    Column("uuid", Text, primary_key=True),
    Column("index", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("memory_bytes", BigInteger, nullable=False),
    Column("first_seen_at", Double, nullable=False),
    Column("last_seen_at", Double, nullable=False),
    Column("present", Boolean, nullable=False),
    Column("drained", Boolean, nullable=False),
    Column("drain_reason", Text, nullable=False),
    Column("inventory", Text, nullable=False),
)

# Who was let in to the page, and by which token; the secrets themselves are stored nowhere.
web_sessions = Table(
    "web_sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("sha256", Text, nullable=False, unique=True),
    Column("uid", BigInteger, nullable=False),
    Column("user", Text, nullable=False),
    Column("made_at", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    Column("address", Text, nullable=False),
    Column("browser", Text, nullable=False),
    Column("method", Text, nullable=False),
)

api_tokens = Table(
    "api_tokens",
    metadata,
    Column("id", Text, primary_key=True),
    Column("sha256", Text, nullable=False, unique=True),
    Column("uid", BigInteger, nullable=False),
    Column("user", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("made_at", Double, nullable=False),
    Column("used_at", Double),
    Column("expires_at", Double, nullable=False),
)

bookings = Table(
    "bookings",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("user", Text, nullable=False),
    Column("uid", BigInteger, nullable=False),
    Column("group", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("starts_at", BigInteger, nullable=False),
    Column("ends_at", BigInteger, nullable=False),
    Column("gpus", Integer, nullable=False),
    Column("gpu_uuids", Text, nullable=False),
    Column("chosen", Text, nullable=False),
    Column("memory_bytes", BigInteger),
    Column("gpu_model", Text),
    Column("purpose", Text, nullable=False),
    Column("public", Boolean, nullable=False),
    Column("maintenance", Boolean, nullable=False),
    Column("series", BigInteger),
    Column("made_at", Double, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("used_at", Double),
    Column("closed_at", Double),
    Column("revision", Integer, nullable=False),
    Column("swap_with", BigInteger),
    Index("bookings_ends", "ends_at"),
    Index("bookings_user", "user", "id"),
)

# The rule of a series, by the number of its first booking; what it made are bookings of their own.
booking_series = Table(
    "booking_series",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("rule", Text, nullable=False),
    Column("except_days", Text, nullable=False),
    Column("time_zone", Text, nullable=False),
)

# Each GPU of each booking that holds it, in whole seconds. The database itself refuses two whole
# ones at one instant, and shares above the memory (see the migration): whoever writes.
booked = Table(
    "booked",
    metadata,
    Column("booking", BigInteger, primary_key=True, autoincrement=False),
    Column("gpu_uuid", Text, primary_key=True),
    Column("gpu_key", BigInteger, nullable=False),
    Column("from_at", BigInteger, nullable=False),
    Column("to_at", BigInteger, nullable=False),
    Column("memory_bytes", BigInteger),
    Index("booked_gpu", "gpu_uuid", "from_at"),
)

# What a person must be told of, made once in the transaction in which it became true; `key` keeps
# it from being made again. Who delivers goes on after the last id that was delivered.
notices = Table(
    "notices",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("at", Double, nullable=False),
    Column("uid", BigInteger),
    Column("user", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("key", Text, nullable=False, unique=True),
    Column("detail", Text, nullable=False),
    Index("notices_user", "user", "id"),
)

# Secret addresses at which a calendar program reads bookings, by the SHA-256 of the secret.
calendar_feeds = Table(
    "calendar_feeds",
    metadata,
    Column("id", Text, primary_key=True),
    Column("sha256", Text, nullable=False, unique=True),
    Column("uid", BigInteger, nullable=False),
    Column("user", Text, nullable=False),
    Column("of", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("made_at", Double, nullable=False),
    Column("used_at", Double),
    Index("calendar_feeds_uid", "uid"),
)

# A notice on its way to its person, once for each channel ("mail").
outbox = Table(
    "outbox",
    metadata,
    Column("notice", BigInteger, primary_key=True, autoincrement=False),
    Column("channel", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("next_at", Double, nullable=False),
    Column("error", Text, nullable=False),
    Index("outbox_due", "state", "next_at"),
)

# What a person wants to be told and where, and which notices were read.
notify_choices = Table(
    "notify_choices",
    metadata,
    Column("uid", BigInteger, primary_key=True, autoincrement=False),
    Column("user", Text, nullable=False),
    Column("language", Text),
    Column("quiet", Text),
    Column("digest_hour", Integer, nullable=False),
    Column("wanted", Text, nullable=False),
    Column("read_through", BigInteger, nullable=False),
)

# A person's own ways to be told. `address` is a secret, read to send with and for nothing else.
notify_channels = Table(
    "notify_channels",
    metadata,
    Column("id", Text, primary_key=True),
    Column("uid", BigInteger, nullable=False),
    Column("user", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("made_at", Double, nullable=False),
    Column("trouble", Text, nullable=False),
    Index("notify_channels_uid", "uid"),
)
