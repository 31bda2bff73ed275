"""The time that a question names: the setting question_time and the part of the score."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0022"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TYPE pgrecall.recall_settings ADD ATTRIBUTE question_time double precision;
        ALTER TYPE pgrecall.recall_request ADD ATTRIBUTE period tstzrange;
        ALTER TYPE pgrecall.ranked ADD ATTRIBUTE time_part double precision;
        -- It returns two more columns.
        DO $do$
        DECLARE
            explain regprocedure;
        BEGIN
            FOR explain IN
                SELECT p.oid::regprocedure
                FROM pg_catalog.pg_proc p
                JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
                WHERE p.proname = 'recall_explain'
                  AND n.nspname = (SELECT i.function_schema FROM pgrecall.installation i)
            LOOP
                EXECUTE format('DROP FUNCTION %s', explain);
            END LOOP;
        END
        $do$;
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
