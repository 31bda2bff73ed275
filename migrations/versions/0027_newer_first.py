"""The newer of two near-identical statements first: a factor of the score."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(op.get_bind(), "ALTER TYPE pgrecall.ranked ADD ATTRIBUTE newer_factor double precision")


def downgrade() -> None:
    run_sql(op.get_bind(), "ALTER TYPE pgrecall.ranked DROP ATTRIBUTE newer_factor")
