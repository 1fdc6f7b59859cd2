"""Calendar feeds: secret addresses at which bookings can be read, known by hashes alone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "calendar_feeds",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("sha256", sa.Text(), nullable=False, unique=True),
        sa.Column("uid", sa.BigInteger(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("of", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("made_at", sa.Double(), nullable=False),
        sa.Column("used_at", sa.Double()),
    )
    op.create_index("calendar_feeds_uid", "calendar_feeds", ["uid"])
