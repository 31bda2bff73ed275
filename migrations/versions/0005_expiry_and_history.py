"""When a memory expires, what changed in it, and more filters."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# Functions with another signature. The installation creates them again.
REPLACED = """
DO $$
DECLARE
    replaced regprocedure;
BEGIN
    FOR replaced IN
        SELECT p.oid::regprocedure
        FROM pg_proc p
        WHERE p.pronamespace IN ('public'::regnamespace, 'pgrecall'::regnamespace, '_pgrecall'::regnamespace)
          AND p.proname IN (
              'recall', 'recall_explain', 'recall_timeline', 'recall_briefing', 'recall_status', 'remember',
              'update_memory', 'sync_memories'
          )
    LOOP
        EXECUTE 'DROP FUNCTION ' || replaced;
    END LOOP;
END
$$;
"""


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        REPLACED
        + """
        ALTER TYPE pgrecall.recall_filter
            ADD ATTRIBUTE metadata_where jsonpath,
            ADD ATTRIBUTE sessions text[],
            ADD ATTRIBUTE speakers text[],
            ADD ATTRIBUTE speaker_hashes integer[],
            ADD ATTRIBUTE sources text[],
            ADD ATTRIBUTE external_id_prefix text;
        ALTER TYPE pgrecall.memory_fields ADD ATTRIBUTE expires_at timestamptz;

        ALTER TABLE pgrecall.memories ADD expires_at timestamptz;
        COMMENT ON COLUMN pgrecall.memories.expires_at IS
            'From then on it is never returned; pgrecall.expire_memories() then forgets or erases it.';

        CREATE TABLE pgrecall.memory_changes (
            id           bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT memory_changes_pkey PRIMARY KEY,
            memory_id    bigint NOT NULL
                CONSTRAINT memory_changes_memory_id_fkey REFERENCES pgrecall.memories ON DELETE CASCADE,
            namespace_id integer NOT NULL,
            action       text NOT NULL CONSTRAINT memory_changes_action CHECK (
                action IN ('update', 'supersede', 'unsupersede', 'forget', 'expire', 'restore')
            ),
            changed_at   timestamptz NOT NULL DEFAULT now(),
            role         text NOT NULL CONSTRAINT memory_changes_role_size CHECK (octet_length(role) <= 256),
            -- JSON escapes a character by at most six.
            before       jsonb NOT NULL
                CONSTRAINT memory_changes_before_size CHECK (octet_length(before::text) <= 8388608),
            after        jsonb NOT NULL
                CONSTRAINT memory_changes_after_size CHECK (octet_length(after::text) <= 8388608)
        );
        COMMENT ON TABLE pgrecall.memory_changes IS
            'What changed in a memory, for memory_history(). As private as the memory, and erased with it.';
        COMMENT ON COLUMN pgrecall.memory_changes.role IS 'The session''s role that changed the memory.';
        COMMENT ON COLUMN pgrecall.memory_changes.before IS 'The changed fields, with their old values.';
        COMMENT ON COLUMN pgrecall.memory_changes.after IS 'The changed fields, with their new values.';
        ALTER TABLE pgrecall.memory_changes
            ALTER COLUMN action SET STATISTICS 0,
            ALTER COLUMN role SET STATISTICS 0,
            ALTER COLUMN before SET STATISTICS 0,
            ALTER COLUMN after SET STATISTICS 0;
        CREATE INDEX memory_changes_memory_idx ON pgrecall.memory_changes (memory_id, id);
        ALTER TABLE pgrecall.memory_changes ENABLE ROW LEVEL SECURITY;

        CREATE TABLE pgrecall.retention (
            namespace_id integer NOT NULL
                CONSTRAINT retention_namespace_id_fkey REFERENCES pgrecall.namespaces ON DELETE CASCADE,
            category     text CONSTRAINT retention_category_size CHECK (octet_length(category) <= 1024),
            keep         interval NOT NULL
                CONSTRAINT retention_keep CHECK (keep > interval '0'),
            action       text NOT NULL DEFAULT 'forget'
                CONSTRAINT retention_action CHECK (action IN ('forget', 'erase')),
            CONSTRAINT retention_key UNIQUE NULLS NOT DISTINCT (namespace_id, category)
        );
        COMMENT ON TABLE pgrecall.retention IS
            'How long the memories of a namespace are kept. Written by pgrecall.set_retention().';
        COMMENT ON COLUMN pgrecall.retention.category IS
            'NULL: the categories without a row of their own, and memories without a category.';
        COMMENT ON COLUMN pgrecall.retention.keep IS 'Counted from created_at.';
        COMMENT ON COLUMN pgrecall.retention.action IS
            'What happens then: forget keeps the row as a tombstone, erase deletes it with all derived data.';
        ALTER TABLE pgrecall.retention
            ALTER COLUMN category SET STATISTICS 0, ALTER COLUMN action SET STATISTICS 0;
        ALTER TABLE pgrecall.retention ENABLE ROW LEVEL SECURITY;
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        DROP TRIGGER IF EXISTS memories_85_history ON pgrecall.memories;
        DROP VIEW IF EXISTS pgrecall.stored_memories CASCADE;
        DROP TABLE pgrecall.memory_changes, pgrecall.retention;
        ALTER TABLE pgrecall.memories DROP expires_at CASCADE;
        ALTER TYPE pgrecall.memory_fields DROP ATTRIBUTE expires_at;
        ALTER TYPE pgrecall.recall_filter
            DROP ATTRIBUTE metadata_where, DROP ATTRIBUTE sessions, DROP ATTRIBUTE speakers,
            DROP ATTRIBUTE speaker_hashes, DROP ATTRIBUTE sources, DROP ATTRIBUTE external_id_prefix;
        """,
    )
