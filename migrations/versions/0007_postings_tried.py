"""bm25_postings has another argument: how many of the best memories the filter is applied to."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        DROP FUNCTION IF EXISTS _pgrecall.bm25_postings(
            integer, text[], double precision[], tsquery, tsquery[], tsquery, pgrecall.recall_filter, integer,
            integer, pgrecall.bm25_parameters
        );
        """,
    )


def downgrade() -> None:
    """Do nothing: the code of the older revision brings its own function."""
