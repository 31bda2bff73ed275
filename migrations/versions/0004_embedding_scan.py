"""The index from which the exact search reads embeddings."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

# The longest vector that fits into an entry of a btree index, which is at most a third of a page.
LONGEST_INDEXED_VECTOR = 1300

DIMENSION = """
SELECT atttypmod FROM pg_catalog.pg_attribute
WHERE attrelid = 'pgrecall.memories'::regclass AND attname = 'embedding'
"""


def upgrade() -> None:
    connection = op.get_bind()
    # It has another argument.
    run_sql(connection, "DROP FUNCTION IF EXISTS _pgrecall.dense_exact_limit(integer, integer)")
    if connection.exec_driver_sql(DIMENSION).scalar_one() > LONGEST_INDEXED_VECTOR:
        return
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        run_sql(connection, "DROP INDEX CONCURRENTLY IF EXISTS pgrecall.memories_embedding_scan_idx")
        # The exact search of a namespace, or of a time in it, reads the embeddings from here instead of from
        # as many pages of the table as there are memories. The times are included for the filters: an index
        # gives back columns, not expressions.
        run_sql(
            connection,
            """
            CREATE INDEX CONCURRENTLY memories_embedding_scan_idx
            ON pgrecall.memories (namespace_id, COALESCE(occurred_at, created_at))
            INCLUDE (id, occurred_at, created_at, valid_to, embedding)
            WHERE deleted_at IS NULL AND superseded_by IS NULL AND embedding IS NOT NULL
            """,
        )


def downgrade() -> None:
    run_sql(op.get_bind(), "DROP INDEX IF EXISTS pgrecall.memories_embedding_scan_idx")
