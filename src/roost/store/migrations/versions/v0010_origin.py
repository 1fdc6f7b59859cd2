"""From where somebody did what is in the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("audit", sa.Column("origin", sa.Text(), nullable=False, server_default=""))
