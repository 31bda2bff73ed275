"""${message}."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(op.get_bind(), "")


def downgrade() -> None:
    run_sql(op.get_bind(), "")
