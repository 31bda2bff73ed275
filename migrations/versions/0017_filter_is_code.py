"""The type of a filter is a view of sql/: a new condition changes no state."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        -- The functions that take the type; the bundle makes them again.
        DO $do$
        DECLARE
            taker regprocedure;
        BEGIN
            FOR taker IN
                SELECT DISTINCT d.objid::regprocedure
                FROM pg_catalog.pg_depend d
                JOIN pg_catalog.pg_proc p ON p.oid = d.objid AND p.pronamespace = '_pgrecall'::regnamespace
                WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_type'::regclass
                  AND d.refobjid = 'pgrecall.recall_filter'::regtype
            LOOP
                EXECUTE format('DROP ROUTINE %s', taker);
            END LOOP;
        END
        $do$;
        DROP TYPE pgrecall.recall_filter;
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        CREATE TYPE pgrecall.recall_filter AS (
            categories text[], tags_any text[], tags_all text[], metadata_contains jsonb, since timestamptz,
            until timestamptz, include_superseded boolean, timeframe tstzrange, as_of timestamptz,
            include_sensitive boolean, referring bigint[], metadata_where jsonpath, sessions text[],
            speakers text[], speaker_hashes integer[], sources text[], external_id_prefix text,
            category_hashes integer[], source_hashes integer[], metadata_conditions jsonb, all_keys bytea[],
            tag_keys bytea[], value_keys bytea[]
        );
        COMMENT ON TYPE pgrecall.recall_filter IS 'The filters of one recall; a NULL field does not filter.';
        """,
    )
