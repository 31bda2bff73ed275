"""The background of embeddings is measured on texts that the texts themselves choose."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        run_sql(connection, "DROP INDEX CONCURRENTLY IF EXISTS pgrecall.memories_sample_idx")
        run_sql(
            connection,
            "CREATE INDEX CONCURRENTLY memories_sample_idx "
            "ON pgrecall.memories (namespace_id, substring(content_hash FROM 1 FOR 4), id) "
            "WHERE deleted_at IS NULL AND superseded_by IS NULL AND NOT is_sensitive",
        )
        # Statistics would show values that tenants must not see.
        run_sql(
            connection, "ALTER INDEX IF EXISTS pgrecall.memories_sample_idx ALTER COLUMN 2 SET STATISTICS 0"
        )
    run_sql(
        op.get_bind(),
        """
        -- They are measured again as embeddings arrive; until then the old figures serve.
        ALTER TABLE pgrecall.embedding_backgrounds DROP COLUMN added, ADD COLUMN last_key bytea
            CONSTRAINT embedding_backgrounds_last_key_size CHECK (octet_length(last_key) <= 4);
        ALTER TABLE pgrecall.embedding_backgrounds RENAME COLUMN sampled_from TO sample_size;
        ALTER TABLE pgrecall.embedding_backgrounds ALTER COLUMN last_key SET STATISTICS 0;
        COMMENT ON COLUMN pgrecall.embedding_backgrounds.sample_size IS 'How many embeddings were measured.';
        COMMENT ON COLUMN pgrecall.embedding_backgrounds.last_key IS
            'The largest key of a sampled text (memories_sample_idx); NULL: every text was considered.';
        -- They read what changed.
        DROP FUNCTION IF EXISTS _pgrecall.update_backgrounds(integer, bigint[]);
        DROP FUNCTION IF EXISTS _pgrecall.refresh_background(integer, integer);
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        DROP INDEX IF EXISTS pgrecall.memories_sample_idx;
        ALTER TABLE pgrecall.embedding_backgrounds RENAME COLUMN sample_size TO sampled_from;
        ALTER TABLE pgrecall.embedding_backgrounds
            DROP COLUMN last_key, ADD COLUMN added integer NOT NULL DEFAULT 0;
        COMMENT ON COLUMN pgrecall.embedding_backgrounds.sampled_from IS
            'How many embeddings the sample was taken from.';
        COMMENT ON COLUMN pgrecall.embedding_backgrounds.added IS 'How many embeddings were stored since.';
        """,
    )
