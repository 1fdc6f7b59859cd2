"""Bookings, and that no GPU is ever booked twice at one instant, whoever writes.

SQLite has one writer at a time, so that a trigger sees all there is. PostgreSQL holds whole GPUs by
an exclusion constraint. A GPU and its interval are one range of numbers, as `numrange` needs no
extension: the GPU's key times 2^36, plus the second. Shares are summed by a trigger that lets one
writer a GPU in at a time.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

# Another booking's whole GPU, or a whole GPU over others' shares.
CLASH = """
    SELECT 1 FROM booked AS other
    WHERE other.gpu_uuid = NEW.gpu_uuid AND other.booking <> NEW.booking
      AND other.from_at < NEW.to_at AND NEW.from_at < other.to_at
      AND (other.memory_bytes IS NULL OR NEW.memory_bytes IS NULL)
"""
# An instant at which the shares come to more than the GPU's memory.
TOO_MUCH = """
    SELECT 1 FROM gpus, (
        SELECT NEW.from_at AS at
        UNION SELECT from_at FROM booked
        WHERE gpu_uuid = NEW.gpu_uuid AND from_at > NEW.from_at AND from_at < NEW.to_at
    ) AS edge
    WHERE NEW.memory_bytes IS NOT NULL AND gpus.uuid = NEW.gpu_uuid
      AND gpus.memory_bytes < NEW.memory_bytes + (
        SELECT coalesce(sum(other.memory_bytes), 0) FROM booked AS other
        WHERE other.gpu_uuid = NEW.gpu_uuid AND other.booking <> NEW.booking
          AND other.from_at <= edge.at AND edge.at < other.to_at
      )
"""


def upgrade() -> None:
    op.create_table(
        "bookings",
        sa.Column("id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("uid", sa.BigInteger(), nullable=False),
        sa.Column("group", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("starts_at", sa.BigInteger(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.Column("gpus", sa.Integer(), nullable=False),
        sa.Column("gpu_uuids", sa.Text(), nullable=False),
        sa.Column("chosen", sa.Text(), nullable=False),
        sa.Column("memory_bytes", sa.BigInteger(), nullable=True),
        sa.Column("gpu_model", sa.Text(), nullable=True),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.Column("maintenance", sa.Boolean(), nullable=False),
        sa.Column("series", sa.BigInteger(), nullable=True),
        sa.Column("made_at", sa.Double(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("used_at", sa.Double(), nullable=True),
        sa.Column("closed_at", sa.Double(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("swap_with", sa.BigInteger(), nullable=True),
    )
    op.create_index("bookings_ends", "bookings", ["ends_at"])
    op.create_index("bookings_user", "bookings", ["user", "id"])
    op.create_table(
        "booking_series",
        sa.Column("id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("except_days", sa.Text(), nullable=False),
        sa.Column("time_zone", sa.Text(), nullable=False),
    )
    op.create_table(
        "booked",
        sa.Column("booking", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("gpu_uuid", sa.Text(), primary_key=True),
        sa.Column("gpu_key", sa.BigInteger(), nullable=False),
        sa.Column("from_at", sa.BigInteger(), nullable=False),
        sa.Column("to_at", sa.BigInteger(), nullable=False),
        sa.Column("memory_bytes", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "0 <= from_at AND from_at < to_at AND to_at < 68719476736", name="booked_span"
        ),
    )
    op.create_index("booked_gpu", "booked", ["gpu_uuid", "from_at"])
    op.create_table(
        "notices",
        sa.Column("id", SERIAL, primary_key=True),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("uid", sa.BigInteger(), nullable=True),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False, unique=True),
        sa.Column("detail", sa.Text(), nullable=False),
    )
    op.create_index("notices_user", "notices", ["user", "id"])
    if op.get_bind().dialect.name == "sqlite":
        for when in ("INSERT", "UPDATE"):
            op.execute(
                f"CREATE TRIGGER booked_once_{when.lower()} BEFORE {when} ON booked BEGIN"
                f" SELECT RAISE(ABORT, 'booked twice') WHERE EXISTS ({CLASH});"
                f" SELECT RAISE(ABORT, 'booked twice') WHERE EXISTS ({TOO_MUCH});"
                " END"
            )
        return
    op.execute(
        "ALTER TABLE booked ADD CONSTRAINT booked_once EXCLUDE USING gist (numrange("
        " gpu_key::numeric * 68719476736 + from_at, gpu_key::numeric * 68719476736 + to_at"
        ") WITH &&) WHERE (memory_bytes IS NULL)"
    )
    op.execute(
        "CREATE FUNCTION booked_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM pg_advisory_xact_lock(NEW.gpu_key);"
        f" IF EXISTS ({CLASH}) OR EXISTS ({TOO_MUCH})"
        " THEN RAISE EXCEPTION 'booked twice' USING ERRCODE = 'exclusion_violation'; END IF;"
        " RETURN NEW; END $$"
    )
    op.execute(
        "CREATE TRIGGER booked_once BEFORE INSERT OR UPDATE ON booked"
        " FOR EACH ROW EXECUTE FUNCTION booked_once()"
    )
