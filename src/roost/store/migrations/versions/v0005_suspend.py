"""Jobs that are suspended where they are."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("suspended_at", sa.Double(), nullable=True))
    op.add_column("jobs", sa.Column("suspended_s", sa.Double(), nullable=False, server_default="0"))
    op.add_column("attempts", sa.Column("suspend", sa.Text(), nullable=False, server_default=""))
    op.add_column("attempts", sa.Column("suspend_bytes", sa.BigInteger(), nullable=True))
