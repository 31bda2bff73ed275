"""The newer of two near-identical statements first: the setting newer_first and the factor of the score."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TYPE pgrecall.recall_settings ADD ATTRIBUTE newer_first boolean;
        ALTER TYPE pgrecall.ranked ADD ATTRIBUTE newer_factor double precision;
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TYPE pgrecall.ranked DROP ATTRIBUTE newer_factor;
        ALTER TYPE pgrecall.recall_settings DROP ATTRIBUTE newer_first;
        """,
    )
