"""The schema of the functions for clients."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TABLE pgrecall.installation ADD COLUMN function_schema text NOT NULL DEFAULT 'public';
        COMMENT ON COLUMN pgrecall.installation.function_schema IS
            'The schema of the functions for clients, chosen by the first migration.';
        UPDATE pgrecall.installation
        SET function_schema = current_setting('pgrecall_installer.schema', true)
        WHERE current_setting('pgrecall_installer.schema', true) <> '';
        """,
    )


def downgrade() -> None:
    run_sql(op.get_bind(), "ALTER TABLE pgrecall.installation DROP COLUMN function_schema")
