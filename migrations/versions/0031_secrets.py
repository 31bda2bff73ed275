"""Secrets in memories: the kinds found in each, and what a namespace does with them."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

POLICIES = "('refuse', 'redact', 'sensitive', 'allow')"


def upgrade() -> None:
    with op.get_context().autocommit_block():
        for statement in (
            "ALTER TABLE pgrecall.memories ADD COLUMN IF NOT EXISTS secrets text[]",
            # Old rows are read without a lock that keeps anybody out.
            "ALTER TABLE pgrecall.memories DROP CONSTRAINT IF EXISTS memories_secrets_count, "
            "ADD CONSTRAINT memories_secrets_count CHECK "
            "(cardinality(secrets) <= 64 AND octet_length(array_to_string(secrets, '')) <= 4096) NOT VALID",
            "ALTER TABLE pgrecall.memories VALIDATE CONSTRAINT memories_secrets_count",
            "DROP INDEX CONCURRENTLY IF EXISTS pgrecall.memories_secrets_idx",
            "CREATE INDEX CONCURRENTLY memories_secrets_idx ON pgrecall.memories (namespace_id) "
            "WHERE secrets IS NOT NULL",
        ):
            run_sql(op.get_bind(), statement)
    run_sql(
        op.get_bind(),
        f"""
        COMMENT ON COLUMN pgrecall.memories.secrets IS
            'Kinds of secrets found in it, now or before a change; NULL: none. Filled by a trigger.';
        ALTER TABLE pgrecall.memories ALTER COLUMN secrets SET STATISTICS 0;
        ALTER TABLE pgrecall.namespaces
            ADD COLUMN secrets text CONSTRAINT namespaces_secrets_check CHECK (secrets IN {POLICIES}),
            ADD COLUMN secrets_in_messages text
                CONSTRAINT namespaces_secrets_in_messages_check CHECK (secrets_in_messages IN {POLICIES});
        ALTER TABLE pgrecall.namespaces
            ALTER COLUMN secrets SET STATISTICS 0, ALTER COLUMN secrets_in_messages SET STATISTICS 0;
        COMMENT ON COLUMN pgrecall.namespaces.secrets IS
            'What is done with a memory that holds a secret; NULL: what the setting secrets says.';
        COMMENT ON COLUMN pgrecall.namespaces.secrets_in_messages IS
            'The same for messages of conversations; NULL: what the setting secrets_in_messages says.';
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TABLE pgrecall.namespaces DROP COLUMN secrets, DROP COLUMN secrets_in_messages;
        DROP INDEX IF EXISTS pgrecall.memories_secrets_idx;
        ALTER TABLE pgrecall.memories DROP COLUMN secrets;
        DELETE FROM pgrecall.settings WHERE name IN ('secrets', 'secrets_in_messages');
        """,
    )
