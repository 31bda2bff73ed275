-- Bytes of everything that pgrecall keeps, by kind. TOAST is apart from its table; indexes of a table that is not named
-- here go to the rest, with it.
SELECT s.kind, sum(s.bytes)::bigint
FROM (
    SELECT CASE
               WHEN t.relname <> 'memories' THEN CASE
                   WHEN t.relname IN ('postings', 'term_stats', 'pending_postings') THEN 'postings'
                   WHEN t.relname IN ('mentions', 'concepts', 'concept_aliases') THEN 'concepts'
                   ELSE 'rest'
               END
               WHEN c.relkind = 'r' THEN 'heap'
               WHEN c.relkind = 't' OR x.relnamespace = 'pg_toast'::regnamespace THEN 'toast'
               WHEN a.amname = 'hnsw' THEN 'hnsw'
               ELSE 'other indexes'
           END AS kind,
           pg_table_size(c.oid) - CASE WHEN c.relkind = 'r' THEN COALESCE(pg_total_relation_size(NULLIF(c.reltoastrelid, 0)), 0)
                                       ELSE 0 END AS bytes
    FROM pg_class c
    LEFT JOIN pg_index i ON i.indexrelid = c.oid
    JOIN pg_class x ON x.oid = COALESCE(i.indrelid, c.oid)
    JOIN pg_class t ON t.oid = x.oid OR t.reltoastrelid = x.oid
    LEFT JOIN pg_am a ON a.oid = c.relam
    WHERE t.relnamespace = 'pgrecall'::regnamespace AND t.relkind = 'r' AND c.relkind IN ('r', 'i', 't')
) s
GROUP BY s.kind
