"""The time that a question names: the setting question_time and the part of the score."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0022"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TYPE pgrecall.recall_settings ADD ATTRIBUTE question_time double precision;
        ALTER TYPE pgrecall.recall_request ADD ATTRIBUTE period tstzrange;
        ALTER TYPE pgrecall.ranked ADD ATTRIBUTE time_part double precision;
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TYPE pgrecall.ranked DROP ATTRIBUTE time_part;
        ALTER TYPE pgrecall.recall_request DROP ATTRIBUTE period;
        ALTER TYPE pgrecall.recall_settings DROP ATTRIBUTE question_time;
        """,
    )
