"""Postings of memories that are over, apart from the others; vacuum of tables that change much.

The postings are rebuilt later, namespace by namespace, by a daemon or by pgrecall.rebuild_all_postings().
Until then a namespace has one list per term, as before (posting_states.separated_at IS NULL).
"""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

REPLACED = """
DROP FUNCTION IF EXISTS _pgrecall.resolve_request(text, pgvector.halfvec, text, jsonb);
DROP FUNCTION IF EXISTS _pgrecall.parse_query(integer, regconfig[], text, integer, pgrecall.recall_settings);
DROP FUNCTION IF EXISTS _pgrecall.query_term_weights(integer, text[], integer);
DROP FUNCTION IF EXISTS _pgrecall.index_postings(integer, bigint[], tsvector[]);
DROP FUNCTION IF EXISTS _pgrecall.remove_postings(integer, bigint[], tsvector[]);
DROP FUNCTION IF EXISTS _pgrecall.merge_posting_blocks(integer, text[]);
"""

# Vacuum at 5 % of dead rows, in queues after some thousands: at 20 %, the default, they grow to a multiple.
HOT = {
    "memories": "autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05",
    "postings": "fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000, "
    "autovacuum_vacuum_cost_delay = 0",
    "term_stats": "autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000",
    "mentions": "autovacuum_vacuum_scale_factor = 0.05",
    "embedding_jobs": "autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000",
    "curation_jobs": "autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000",
    "extractions": "autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000",
}


def _reset(options: str) -> str:
    return ", ".join(option.partition(" = ")[0] for option in options.split(", "))


def upgrade() -> None:
    # What is done until the end of the block stays if the run is interrupted, and is done again.
    run_sql(
        op.get_bind(),
        """
        CREATE TABLE IF NOT EXISTS pgrecall.posting_states (
            namespace_id integer CONSTRAINT posting_states_pkey PRIMARY KEY
                CONSTRAINT posting_states_namespace_id_fkey REFERENCES pgrecall.namespaces ON DELETE CASCADE,
            separated_at timestamptz,
            changes      bigint NOT NULL DEFAULT 0,
            compacted_to text COLLATE "C"
                CONSTRAINT posting_states_compacted_to_size CHECK (octet_length(compacted_to) <= 2048),
            CONSTRAINT posting_states_times CHECK (
                separated_at BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-31 00:00:00+00'
                OR separated_at = '-infinity'
            )
        ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
        COMMENT ON TABLE pgrecall.posting_states IS
            'The state of a namespace''s postings. Written under _pgrecall.try_lock_postings(). '
            'No row: nothing was flushed yet.';
        COMMENT ON COLUMN pgrecall.posting_states.separated_at IS
            'What was over at this time is in the postings of the past. '
            'NULL: not separated yet, all are together.';
        COMMENT ON COLUMN pgrecall.posting_states.changes IS
            'Memories posted or removed since the last compaction began.';
        COMMENT ON COLUMN pgrecall.posting_states.compacted_to IS
            'The last term that the current compaction reached; NULL: none runs.';
        ALTER TABLE pgrecall.posting_states ALTER COLUMN compacted_to SET STATISTICS 0;
        ALTER TABLE pgrecall.posting_states ENABLE ROW LEVEL SECURITY;
        INSERT INTO pgrecall.posting_states (namespace_id)
        SELECT DISTINCT l.namespace_id FROM pgrecall.term_stats l
        JOIN pgrecall.namespaces n ON n.id = l.namespace_id
        WHERE l.term = ''
        ON CONFLICT DO NOTHING;

        COMMENT ON TABLE pgrecall.term_stats IS
            'The number of memories in pgrecall.postings that hold each term, current and past apart; '
            'the term '''' counts all memories in the postings.';
        ALTER TABLE pgrecall.postings ADD COLUMN IF NOT EXISTS is_past boolean NOT NULL DEFAULT false;
        COMMENT ON COLUMN pgrecall.postings.is_past IS
            'Holds memories that are superseded, expired or no longer valid, '
            'which recall reads only if asked for the past.';
        ALTER TABLE pgrecall.term_stats ADD COLUMN IF NOT EXISTS is_past boolean NOT NULL DEFAULT false;
        COMMENT ON COLUMN pgrecall.term_stats.is_past IS 'Counts the postings of the past.';
        ALTER TABLE pgrecall.pending_postings
            ADD COLUMN IF NOT EXISTS indexed_past boolean NOT NULL DEFAULT false;
        COMMENT ON COLUMN pgrecall.pending_postings.indexed_past IS
            'Whether the memory''s postings are in those of the past.';
        """
        + "".join(f"ALTER TABLE pgrecall.{table} SET ({options});" for table, options in HOT.items()),
    )
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        for name in ("postings_list_key", "term_stats_list_key", "memories_over_idx"):
            run_sql(connection, f"DROP INDEX CONCURRENTLY IF EXISTS pgrecall.{name}")
        run_sql(
            connection,
            "CREATE UNIQUE INDEX CONCURRENTLY postings_list_key ON pgrecall.postings "
            "(namespace_id, term, is_past, top_impact DESC, block)",
        )
        run_sql(
            connection,
            "CREATE UNIQUE INDEX CONCURRENTLY term_stats_list_key "
            "ON pgrecall.term_stats (namespace_id, term, is_past)",
        )
        run_sql(
            connection,
            "CREATE INDEX CONCURRENTLY memories_over_idx ON pgrecall.memories "
            "(namespace_id, LEAST(valid_to, expires_at)) "
            "WHERE deleted_at IS NULL AND superseded_by IS NULL AND LEAST(valid_to, expires_at) IS NOT NULL",
        )
    run_sql(
        op.get_bind(),
        """
        ALTER TABLE pgrecall.term_stats
            DROP CONSTRAINT term_stats_pkey,
            ADD CONSTRAINT term_stats_pkey PRIMARY KEY USING INDEX term_stats_list_key;
        DROP INDEX pgrecall.postings_term_key;
        ALTER INDEX pgrecall.postings_list_key RENAME TO postings_term_key;
        """,
    )


def downgrade() -> None:
    # The older code knows one list per term. It keeps the lists of the past, as they were one before.
    run_sql(
        op.get_bind(),
        REPLACED
        + """
        DROP TRIGGER IF EXISTS memories_60_postings_update ON pgrecall.memories;
        WITH past AS (DELETE FROM pgrecall.term_stats l WHERE l.is_past RETURNING l.*)
        INSERT INTO pgrecall.term_stats AS l
        SELECT p.namespace_id, p.term, p.documents, p.small_blocks, false FROM past p
        ON CONFLICT ON CONSTRAINT term_stats_pkey DO UPDATE
        SET documents = l.documents + excluded.documents,
            small_blocks = l.small_blocks + excluded.small_blocks;
        DROP INDEX pgrecall.postings_term_key;
        CREATE UNIQUE INDEX postings_term_key
            ON pgrecall.postings (namespace_id, term, top_impact DESC, block);
        DROP INDEX pgrecall.memories_over_idx;
        ALTER TABLE pgrecall.postings DROP is_past CASCADE;
        ALTER TABLE pgrecall.term_stats DROP CONSTRAINT term_stats_pkey;
        ALTER TABLE pgrecall.term_stats DROP is_past CASCADE;
        ALTER TABLE pgrecall.term_stats ADD CONSTRAINT term_stats_pkey PRIMARY KEY (namespace_id, term);
        ALTER TABLE pgrecall.pending_postings DROP indexed_past CASCADE;
        COMMENT ON TABLE pgrecall.term_stats IS
            'The number of memories in pgrecall.postings that hold each term; '
            'the term '''' counts all memories in the postings.';
        DROP TABLE pgrecall.posting_states CASCADE;
        """
        + "".join(
            f"ALTER TABLE pgrecall.{table} RESET ({_reset(options)});" for table, options in HOT.items()
        ),
    )
