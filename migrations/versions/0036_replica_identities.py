"""What logical replication knows rows by: without it, a publication of these tables refuses their changes."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TABLE pgrecall.postings REPLICA IDENTITY USING INDEX postings_term_key;
        -- The columns of their keys may be NULL, so no index serves.
        ALTER TABLE pgrecall.entity_rules REPLICA IDENTITY FULL;
        ALTER TABLE pgrecall.retention REPLICA IDENTITY FULL;
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TABLE pgrecall.retention REPLICA IDENTITY DEFAULT;
        ALTER TABLE pgrecall.entity_rules REPLICA IDENTITY DEFAULT;
        ALTER TABLE pgrecall.postings REPLICA IDENTITY DEFAULT;
        """,
    )
