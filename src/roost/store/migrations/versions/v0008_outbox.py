"""What of the notices goes out, and how far each has got."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "outbox",
        sa.Column("notice", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("channel", sa.Text(), primary_key=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.Double(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
    )
    op.create_index("outbox_due", "outbox", ["state", "next_at"])
