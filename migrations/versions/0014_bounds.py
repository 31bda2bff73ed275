"""Bounds of times, numbers and depth that every reader can read."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

CHANGED = """
DROP FUNCTION IF EXISTS _pgrecall.metadata_path(jsonb);
DROP FUNCTION IF EXISTS _pgrecall.memory_filter(
    text[], text[], text[], jsonb, jsonb, text[], text[], text[], text, timestamptz, timestamptz, boolean, boolean, tstzrange,
    timestamptz
);
DROP FUNCTION IF EXISTS _pgrecall.erase_granted(bigint, boolean);
"""


def upgrade() -> None:
    run_sql(op.get_bind(), CHANGED)


def downgrade() -> None:
    pass
