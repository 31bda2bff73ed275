"""What a question states in figures, for the confidence."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(op.get_bind(), "ALTER TYPE pgrecall.recall_request ADD ATTRIBUTE stated text[]")


def downgrade() -> None:
    run_sql(op.get_bind(), "ALTER TYPE pgrecall.recall_request DROP ATTRIBUTE stated")
