"""The HNSW index of the dense leg, built without blocking writers.

Alone in its revision, since CREATE INDEX CONCURRENTLY runs outside a transaction.
"""

from alembic import op

from pgrecall.install import run_sql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.get_context().autocommit_block():
        # A build that was interrupted leaves an invalid index of this name behind.
        run_sql(op.get_bind(), "DROP INDEX CONCURRENTLY IF EXISTS pgrecall.memories_embedding_idx")
        run_sql(
            op.get_bind(),
            """
            CREATE INDEX CONCURRENTLY memories_embedding_idx ON pgrecall.memories
                USING hnsw (embedding pgvector.halfvec_cosine_ops) WITH (m = 16, ef_construction = 64)
                WHERE deleted_at IS NULL
            """,
        )


def downgrade() -> None:
    run_sql(op.get_bind(), "DROP INDEX pgrecall.memories_embedding_idx")
