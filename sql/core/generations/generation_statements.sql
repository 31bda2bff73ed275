-- Returns the statements that build the indexes and validate the constraint of a generation, to run in this order before a
-- switch to it, each outside a transaction. Empty once they have run.
--
-- Run each outside a transaction. They block neither readers nor writers.
--
-- stage  fill: the index with which daemons find pending memories;  search: the indexes of recall, built when most
--        embeddings are stored
CREATE OR REPLACE FUNCTION pgrecall.generation_statements(generation integer, stage text)
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE ROWS 4
BEGIN ATOMIC
    SELECT s.statement
    FROM pgrecall.generations g
    CROSS JOIN LATERAL (VALUES
        (1, 'fill', 'memories_sensitive_not_' || g.column_name,
         format('ALTER TABLE pgrecall.memories VALIDATE CONSTRAINT memories_sensitive_not_%s', g.column_name)),
        (3, 'fill', format('memories_pending_%s_idx', g.id),
         format('CREATE INDEX CONCURRENTLY memories_pending_%s_idx ON pgrecall.memories (updated_at DESC, id DESC) '
                'WHERE %I IS NULL AND NOT is_sensitive AND deleted_at IS NULL', g.id, g.column_name)),
        (5, 'fill', format('memories_pending_namespace_%s_idx', g.id),
         format('CREATE INDEX CONCURRENTLY memories_pending_namespace_%s_idx '
                'ON pgrecall.memories (namespace_id, updated_at DESC, id DESC) '
                'WHERE %I IS NULL AND NOT is_sensitive AND deleted_at IS NULL', g.id, g.column_name)),
        (7, 'search', format('memories_%s_idx', g.column_name),
         format('CREATE INDEX CONCURRENTLY memories_%s_idx ON pgrecall.memories USING hnsw (%I pgvector.halfvec_cosine_ops) '
                'WITH (m = 16, ef_construction = 64) WHERE deleted_at IS NULL', g.column_name, g.column_name)),
        (9, 'search', format('concepts_unembedded_%s_idx', g.id),
         format('CREATE INDEX CONCURRENTLY concepts_unembedded_%s_idx ON pgrecall.concepts (id) WHERE %I IS NULL',
                g.id, g.column_name)),
        (11, 'search', format('concepts_%s_idx', g.column_name),
         format('CREATE INDEX CONCURRENTLY concepts_%s_idx ON pgrecall.concepts USING hnsw (%I pgvector.halfvec_cosine_ops)',
                g.column_name, g.column_name)),
        (13, 'search', format('passages_%s_idx', g.column_name),
         format('CREATE INDEX CONCURRENTLY passages_%s_idx ON pgrecall.passages '
                'USING hnsw ((embedding::pgvector.halfvec(%s)) pgvector.halfvec_cosine_ops) '
                'WITH (m = 16, ef_construction = 64) WHERE generation_id = %s', g.column_name, g.dimension, g.id)),
        -- A longer vector does not fit into an entry of this index.
        (15, 'search', CASE WHEN g.dimension <= 1300 THEN format('memories_%s_scan_idx', g.column_name) END,
         format('CREATE INDEX CONCURRENTLY memories_%s_scan_idx '
                'ON pgrecall.memories (namespace_id, COALESCE(occurred_at, created_at)) '
                'INCLUDE (id, occurred_at, created_at, valid_to, expires_at, %I) '
                'WHERE deleted_at IS NULL AND superseded_by IS NULL AND %I IS NOT NULL',
                g.column_name, g.column_name, g.column_name))
    ) o (place, stage, name, statement)
    CROSS JOIN LATERAL (
        -- An interrupted build leaves an invalid index.
        SELECT o.place - 1 AS place, format('DROP INDEX CONCURRENTLY IF EXISTS pgrecall.%I', o.name) AS statement WHERE o.place > 1
        UNION ALL
        SELECT o.place, o.statement
    ) s
    WHERE g.id = generation_statements.generation AND g.id > 1 AND o.stage = generation_statements.stage AND o.name IS NOT NULL
      AND NOT EXISTS (
            SELECT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
            WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relname = o.name AND i.indisvalid
        )
      AND NOT EXISTS (
            SELECT FROM pg_constraint k
            WHERE k.conrelid = 'pgrecall.memories'::regclass AND k.conname = o.name AND k.convalidated
        )
    ORDER BY s.place;
END;

GRANT EXECUTE ON FUNCTION pgrecall.generation_statements TO pgrecall_embedder;
