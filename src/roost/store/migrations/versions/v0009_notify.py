"""What each person wants to be told, and where; secret addresses are in `channels` alone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "notify_choices",
        sa.Column("uid", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("quiet", sa.Text(), nullable=True),
        sa.Column("digest_hour", sa.Integer(), nullable=False),
        sa.Column("wanted", sa.Text(), nullable=False),
        sa.Column("read_through", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "notify_channels",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("uid", sa.BigInteger(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("made_at", sa.Double(), nullable=False),
        sa.Column("trouble", sa.Text(), nullable=False),
    )
    op.create_index("notify_channels_uid", "notify_channels", ["uid"])
