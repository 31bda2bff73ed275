"""Workers say whether notifications reach them, or how often they look for questions."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TABLE pgrecall.workers
            ADD COLUMN poll_seconds real NOT NULL DEFAULT 0,
            ADD CONSTRAINT workers_poll_seconds_check CHECK ((poll_seconds >= 0) AND (poll_seconds <= 86400));
        COMMENT ON COLUMN pgrecall.workers.poll_seconds IS
            'Seconds between two looks for questions; 0: notifications reach it.';
        """,
    )


def downgrade() -> None:
    run_sql(op.get_bind(), "ALTER TABLE pgrecall.workers DROP COLUMN poll_seconds")
