"""The index from which the exact search reads embeddings."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

# The longest vector that fits into an entry of a btree index, which is at most a third of a page.
LONGEST_INDEXED_VECTOR = 1300

# Each generation of embeddings is a column of its own. A database that changed its model may have dropped the
# first.
COLUMNS = f"""
SELECT column_name FROM pgrecall.generations WHERE dimension <= {LONGEST_INDEXED_VECTOR} ORDER BY id
"""


def upgrade() -> None:
    connection = op.get_bind()
    # It has another argument.
    run_sql(connection, "DROP FUNCTION IF EXISTS _pgrecall.dense_exact_limit(integer, integer)")
    columns = connection.exec_driver_sql(COLUMNS).scalars().all()
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        for column in columns:
            run_sql(connection, f"DROP INDEX CONCURRENTLY IF EXISTS pgrecall.memories_{column}_scan_idx")
            # The exact search of a namespace, or of a time in it, reads the embeddings from here instead of
            # from as many pages of the table as there are memories. The times are included for the filters:
            # an index gives back columns, not expressions.
            run_sql(
                connection,
                f"""
                CREATE INDEX CONCURRENTLY memories_{column}_scan_idx
                ON pgrecall.memories (namespace_id, COALESCE(occurred_at, created_at))
                INCLUDE (id, occurred_at, created_at, valid_to, {column})
                WHERE deleted_at IS NULL AND superseded_by IS NULL AND {column} IS NOT NULL
                """,
            )


def downgrade() -> None:
    connection = op.get_bind()
    for column in connection.exec_driver_sql(COLUMNS).scalars().all():
        run_sql(connection, f"DROP INDEX IF EXISTS pgrecall.memories_{column}_scan_idx")
