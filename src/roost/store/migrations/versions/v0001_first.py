"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "allocations",
        sa.Column("id", SERIAL, primary_key=True),
        sa.Column("gpu_uuid", sa.Text(), nullable=False),
        sa.Column("job", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("group", sa.Text(), nullable=False),
        sa.Column("class", sa.Text(), nullable=False),
        sa.Column("memory_bytes", sa.BigInteger(), nullable=True),
        sa.Column("share", sa.Double(), nullable=False),
        sa.Column("from_at", sa.Double(), nullable=False),
        sa.Column("to_at", sa.Double(), nullable=True),
        sa.Column("held_through", sa.Double(), nullable=False),
    )
    op.create_index("allocations_job", "allocations", ["job", "attempt"])
    op.create_index("allocations_open", "allocations", ["to_at"])
    op.create_table(
        "audit",
        sa.Column("id", SERIAL, primary_key=True),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("uid", sa.BigInteger(), nullable=True),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("whom", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
    )
    op.create_index("audit_user", "audit", ["user", "id"])
    op.create_table(
        "events",
        sa.Column("id", SERIAL, primary_key=True),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
    )
    op.create_index("events_at", "events", ["at"])
    op.create_table(
        "gpus",
        sa.Column("uuid", sa.Text(), primary_key=True),
        sa.Column("index", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("memory_bytes", sa.BigInteger(), nullable=False),
        sa.Column("first_seen_at", sa.Double(), nullable=False),
        sa.Column("last_seen_at", sa.Double(), nullable=False),
        sa.Column("present", sa.Boolean(), nullable=False),
        sa.Column("drained", sa.Boolean(), nullable=False),
        sa.Column("drain_reason", sa.Text(), nullable=False),
        sa.Column("inventory", sa.Text(), nullable=False),
    )
    op.create_table(
        "hours",
        sa.Column("hour", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("gpu_uuid", sa.Text(), primary_key=True),
        sa.Column("observed_s", sa.Double(), nullable=False),
        sa.Column("utilisation_s", sa.Double(), nullable=False),
        sa.Column("busy_s", sa.Double(), nullable=False),
        sa.Column("memory_byte_s", sa.Double(), nullable=False),
        sa.Column("joules", sa.Double(), nullable=False),
        sa.Column("memory_max_bytes", sa.BigInteger(), nullable=True),
        sa.Column("power_max_w", sa.Double(), nullable=True),
        sa.Column("temperature_max_c", sa.Integer(), nullable=True),
    )
    op.create_table(
        "job_inputs",
        sa.Column("id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("input", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "submissions",
        sa.Column("uid", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("key", sa.Text(), primary_key=True),
        sa.Column("first_job", sa.BigInteger(), nullable=False),
        sa.Column("jobs", sa.Integer(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("uid", sa.BigInteger(), nullable=False),
        sa.Column("group", sa.Text(), nullable=False),
        sa.Column("class", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("gpus", sa.Integer(), nullable=False),
        sa.Column("gpu_memory_bytes", sa.BigInteger(), nullable=True),
        sa.Column("gpu_model", sa.Text(), nullable=True),
        sa.Column("cpus", sa.Integer(), nullable=False),
        sa.Column("memory_bytes", sa.BigInteger(), nullable=True),
        sa.Column("walltime_s", sa.BigInteger(), nullable=True),
        sa.Column("submitted_at", sa.Double(), nullable=False),
        sa.Column("begin_at", sa.Double(), nullable=True),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.Column("checkpointed_at", sa.Double(), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("signal", sa.Integer(), nullable=True),
        sa.Column("end_reason", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("said", sa.Text(), nullable=True),
        sa.Column("gpu_s", sa.Double(), nullable=False),
        sa.Column("busy_s", sa.Double(), nullable=False),
        sa.Column("observed_s", sa.Double(), nullable=False),
        sa.Column("energy_j", sa.Double(), nullable=True),
        sa.Column("peak_memory_bytes", sa.BigInteger(), nullable=True),
        sa.Column("cpu_s", sa.Double(), nullable=True),
        sa.Column("restarts", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("after", sa.Text(), nullable=False),
        sa.Column("array_id", sa.BigInteger(), nullable=True),
        sa.Column("array_index", sa.Integer(), nullable=True),
        sa.Column("array_limit", sa.Integer(), nullable=True),
        sa.Column("held", sa.Boolean(), nullable=False),
        sa.Column("requeue", sa.Boolean(), nullable=False),
        sa.Column("pty", sa.Boolean(), nullable=False),
        sa.Column("directory", sa.LargeBinary(), nullable=False),
        sa.Column("output", sa.LargeBinary(), nullable=True),
        sa.Column("command", sa.LargeBinary(), nullable=False),
        sa.Column("granted", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("input_id", sa.BigInteger(), nullable=False),
    )
    op.create_index("jobs_live", "jobs", ["ended_at", "id"])
    op.create_index("jobs_user", "jobs", ["user", "id"])
    op.create_table(
        "meta",
        sa.Column("key", sa.Text(), primary_key=True),
        sa.Column("value", sa.Text(), nullable=False),
    )
    op.create_table(
        "minutes",
        sa.Column("minute", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("gpu_uuid", sa.Text(), primary_key=True),
        sa.Column("observed_s", sa.Double(), nullable=False),
        sa.Column("utilisation_s", sa.Double(), nullable=False),
        sa.Column("busy_s", sa.Double(), nullable=False),
        sa.Column("memory_byte_s", sa.Double(), nullable=False),
        sa.Column("joules", sa.Double(), nullable=False),
        sa.Column("memory_max_bytes", sa.BigInteger(), nullable=True),
        sa.Column("power_max_w", sa.Double(), nullable=True),
        sa.Column("temperature_max_c", sa.Integer(), nullable=True),
    )
    op.create_table(
        "rules_versions",
        sa.Column("version", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("uid", sa.BigInteger(), nullable=True),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
    )
    op.create_table(
        "usage",
        sa.Column("hour", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("gpu_uuid", sa.Text(), primary_key=True),
        sa.Column("user", sa.Text(), primary_key=True),
        sa.Column("group", sa.Text(), primary_key=True),
        sa.Column("job", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("class", sa.Text(), primary_key=True),
        sa.Column("correction", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("held_s", sa.Double(), nullable=False),
        sa.Column("observed_s", sa.Double(), nullable=False),
        sa.Column("busy_s", sa.Double(), nullable=False),
        sa.Column("gb_s", sa.Double(), nullable=False),
        sa.Column("joules", sa.Double(), nullable=False),
    )
    op.create_table(
        "attempts",
        sa.Column("job", sa.BigInteger(), sa.ForeignKey("jobs.id"), primary_key=True),
        sa.Column("attempt", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("decided_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.Column("stop_reason", sa.Text(), nullable=True),
        sa.Column("stop_at", sa.Double(), nullable=True),
        sa.Column("stop_grace_s", sa.Double(), nullable=True),
        sa.Column("stop_requeue", sa.Boolean(), nullable=True),
        sa.Column("stop_for_job", sa.BigInteger(), nullable=True),
        sa.Column("stop_rule", sa.Text(), nullable=True),
        sa.Column("end_reason", sa.Text(), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("signal", sa.Integer(), nullable=True),
        sa.Column("done", sa.Boolean(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
    )
