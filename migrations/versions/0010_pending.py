# ruff: noqa: E501 (lines of SQL)
"""The embedder's queue in two orders: the newest first, and each namespace's newest first.

Alone in its revision, since CREATE INDEX CONCURRENTLY runs outside a transaction.
"""

from alembic import op

from pgrecall.install import run_sql

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

PENDING = "embedding IS NULL AND NOT is_sensitive AND deleted_at IS NULL"


def upgrade() -> None:
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        # A build that was interrupted leaves an invalid index of its name behind.
        for statement in (
            "DROP INDEX CONCURRENTLY IF EXISTS pgrecall.memories_pending_idx",
            "CREATE INDEX CONCURRENTLY memories_pending_idx ON pgrecall.memories (updated_at DESC, id DESC) "
            f"WHERE {PENDING}",
            "DROP INDEX CONCURRENTLY IF EXISTS pgrecall.memories_pending_namespace_idx",
            "CREATE INDEX CONCURRENTLY memories_pending_namespace_idx "
            f"ON pgrecall.memories (namespace_id, updated_at DESC, id DESC) WHERE {PENDING}",
            "COMMENT ON INDEX pgrecall.memories_pending_idx IS "
            "'The embedder''s queue, the newest first: a memory is pending exactly while it is in this index.'",
            "COMMENT ON INDEX pgrecall.memories_pending_namespace_idx IS "
            "'The embedder''s queue by namespace, so that none waits for another.'",
        ):
            run_sql(connection, statement)


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        f"""
        DROP INDEX pgrecall.memories_pending_idx, pgrecall.memories_pending_namespace_idx;
        CREATE INDEX memories_pending_idx ON pgrecall.memories (id) WHERE {PENDING};
        COMMENT ON INDEX pgrecall.memories_pending_idx IS
            'The embedder''s queue: a memory is pending exactly while it is in this index.';
        """,
    )
