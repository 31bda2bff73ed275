"""Where memories come from: their origin, that of facts, and what the order owes to it."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


# Before version 18 PostgreSQL adds no column with a default to a table whose row type a function takes apart
# in a parsed body. A body that is text does the same, and is replaced with the code.
BODIES_AS_TEXT = """
DO $bodies$
DECLARE
    found record;
BEGIN
    PERFORM set_config('search_path', 'pg_catalog, pg_temp', true);
    FOR found IN
        SELECT pg_get_functiondef(p.oid) AS definition, pg_get_function_sqlbody(p.oid) AS body
        FROM pg_proc p
        WHERE p.prosqlbody IS NOT NULL
          AND p.pronamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace)
          AND p.proargtypes::oid[]
              && ARRAY['pgrecall.memories'::regtype, 'pgrecall.relationships'::regtype]::oid[]
    LOOP
        EXECUTE replace(
            found.definition, found.body,
            'AS ' || quote_literal(
                CASE WHEN found.body ~ '^RETURN' THEN 'SELECT ' || substr(found.body, 8)
                     ELSE regexp_replace(found.body, '^BEGIN ATOMIC|END$', '', 'g') END
            )
        );
    END LOOP;
END
$bodies$;
"""


def upgrade() -> None:
    path = op.get_bind().exec_driver_sql("SHOW search_path").scalar()
    run_sql(op.get_bind(), BODIES_AS_TEXT)
    op.get_bind().exec_driver_sql("SELECT set_config('search_path', %s, true)", (path,))
    run_sql(
        op.get_bind(),
        """
        CREATE TYPE pgrecall.memory_origin AS ENUM ('web', 'tool', 'import', 'agent', 'user');
        COMMENT ON TYPE pgrecall.memory_origin IS
            'Where a memory comes from, the least trusted first: origin >= ''agent'' trusts agent and user.';
        -- A constant default is stored once, in the catalog: no row is written. Nobody said where the
        -- memories come from that are there, and what is not said is the agent's (default_origin).
        ALTER TABLE pgrecall.memories ADD origin pgrecall.memory_origin NOT NULL DEFAULT 'agent';
        COMMENT ON COLUMN pgrecall.memories.origin IS
            'Where it comes from; of what is derived, the least trusted that it rests on.';
        ALTER TABLE pgrecall.relationships ADD origin pgrecall.memory_origin NOT NULL DEFAULT 'agent';
        COMMENT ON COLUMN pgrecall.relationships.origin IS
            'The origin of the most trusted memory that states it.';
        ALTER TYPE pgrecall.memory_fields ADD ATTRIBUTE origin pgrecall.memory_origin;
        ALTER TYPE pgrecall.fact_statement ADD ATTRIBUTE origin pgrecall.memory_origin;
        ALTER TYPE pgrecall.ranked ADD ATTRIBUTE trust_factor double precision;
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        DROP TRIGGER IF EXISTS memories_83_note_origin ON pgrecall.memories;
        DROP TRIGGER IF EXISTS memories_84_fact_origin ON pgrecall.memories;
        DROP TRIGGER IF EXISTS memories_85_history ON pgrecall.memories;
        DROP TRIGGER IF EXISTS memories_92_pages_update ON pgrecall.memories;
        ALTER TYPE pgrecall.ranked DROP ATTRIBUTE trust_factor;
        ALTER TYPE pgrecall.fact_statement DROP ATTRIBUTE origin;
        ALTER TYPE pgrecall.memory_fields DROP ATTRIBUTE origin;
        ALTER TABLE pgrecall.relationships DROP origin;
        ALTER TABLE pgrecall.memories DROP origin;
        DROP TYPE pgrecall.memory_origin;
        DELETE FROM pgrecall.settings WHERE name = 'default_origin';
        """,
    )
