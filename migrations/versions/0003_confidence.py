"""The confidence that a memory answers the query."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TYPE pgrecall.ranked ADD ATTRIBUTE confidence double precision;
        -- It returns another column.
        DROP FUNCTION IF EXISTS public.recall(
            text, pgvector.halfvec, integer, text, text[], text[], text[], jsonb, timestamptz, timestamptz,
            boolean, boolean, tstzrange, timestamptz, timestamptz, text, text, text, text, double precision,
            double precision, double precision, boolean, jsonb
        );
        """,
    )


def downgrade() -> None:
    run_sql(op.get_bind(), "ALTER TYPE pgrecall.ranked DROP ATTRIBUTE confidence;")
