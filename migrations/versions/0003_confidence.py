"""The confidence that a memory answers the query."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(op.get_bind(), "ALTER TYPE pgrecall.ranked ADD ATTRIBUTE confidence double precision;")


def downgrade() -> None:
    run_sql(op.get_bind(), "ALTER TYPE pgrecall.ranked DROP ATTRIBUTE confidence;")
