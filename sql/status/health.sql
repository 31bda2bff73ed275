-- health: what is in order and what is not, with what to run. `pgrecall doctor` prints it.
--
-- status  ok, warn or fail
CREATE OR REPLACE FUNCTION pgrecall.health()
RETURNS TABLE (check_name text, status text, detail text, remedy text)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT c.check_name, CASE WHEN c.good THEN 'ok' ELSE c.otherwise END, c.detail,
           CASE WHEN c.good THEN NULL ELSE c.remedy END
    FROM public.recall_status() s
    CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE NOT i.indisvalid OR NOT i.indisready) AS invalid,
               string_agg(i.indexrelid::regclass::text, ', ') FILTER (WHERE NOT i.indisvalid OR NOT i.indisready) AS names
        FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
        WHERE t.relnamespace = 'pgrecall'::regnamespace
    ) x
    CROSS JOIN LATERAL (
        SELECT COALESCE(NULLIF(current_setting('hnsw.ef_search', true), ''), '40')::integer AS ef_search,
               (SELECT f.value FROM pgrecall.settings_in_force f WHERE f.name = 'leg_depth') AS leg_depth,
               COALESCE(current_setting('hnsw.iterative_scan', true), 'off') AS iterative_scan,
               (SELECT min(f.name) FROM pgrecall.settings_in_force f
                WHERE NOT pgrecall.accepts(f.name, f.value)) AS bad_setting
    ) g
    CROSS JOIN LATERAL (VALUES
        (1, 'server version', current_setting('server_version_num')::integer BETWEEN 150000 AND 189999, 'warn',
         'PostgreSQL ' || s.server_version, 'pgrecall is tested on PostgreSQL 15 to 18.'),
        (2, 'encoding', current_setting('server_encoding') = 'UTF8', 'fail', current_setting('server_encoding'),
         'Create the database with ENCODING ''UTF8'' TEMPLATE template0.'),
        (3, 'pgvector', string_to_array(s.pgvector_version, '.')::integer[] >= ARRAY[0, 8], 'fail',
         'pgvector ' || s.pgvector_version, 'Install pgvector 0.8 or newer, then ALTER EXTENSION vector UPDATE.'),
        (4, 'indexes', x.invalid = 0 AND s.dense_index_valid, 'fail',
         COALESCE('invalid: ' || x.names, CASE WHEN s.dense_index_valid THEN 'all valid' ELSE 'memories_embedding_idx is missing' END),
         COALESCE('REINDEX INDEX CONCURRENTLY ' || x.names, 'pgrecall migrate --revision 0001, then pgrecall migrate')),
        (5, 'settings', g.bad_setting IS NULL, 'fail', COALESCE('pgrecall.' || g.bad_setting || ' is out of range', 'all valid'),
         'SELECT * FROM pgrecall.settings_in_force shows values and ranges; RESET it or use pgrecall.set_setting().'),
        (6, 'hnsw.ef_search', g.bad_setting IS NOT NULL OR g.ef_search >= g.leg_depth::numeric, 'warn',
         format('%s, the legs go %s deep', g.ef_search, g.leg_depth),
         format('ALTER DATABASE %I SET hnsw.ef_search = 100', current_database())),
        (7, 'hnsw.iterative_scan', g.iterative_scan <> 'off', 'warn', g.iterative_scan,
         format('ALTER DATABASE %I SET hnsw.iterative_scan = relaxed_order', current_database())),
        (8, 'embedding model', s.model IS NOT NULL, 'warn', COALESCE(s.model || ', ' || s.dimension || ' dimensions', 'none chosen'),
         'pgrecall migrate --model NAME'),
        (9, 'embedder', s.workers > 0 OR s.pending = 0, 'warn', s.workers || ' alive', 'pgrecall embedder'),
        (10, 'pending embeddings', s.oldest_pending IS NULL OR s.oldest_pending < interval '10 minutes', 'warn',
         format('%s pending, %s in progress, %s failed%s', s.pending, s.in_progress, s.failed,
                ', the oldest for ' || date_trunc('second', s.oldest_pending)),
         CASE WHEN s.workers > 0 THEN 'SELECT * FROM pgrecall.embedding_jobs shows the errors.' ELSE 'pgrecall embedder' END),
        (11, 'unread memories', s.oldest_unread IS NULL OR s.oldest_unread < interval '10 minutes', 'warn',
         format('%s to be read for names, times and facts, %s failed%s', s.unread, s.unread_failed,
                ', the oldest waits for ' || date_trunc('second', s.oldest_unread)),
         CASE
             WHEN s.workers > 0 OR s.unread_failed = s.unread THEN 'SELECT * FROM pgrecall.extractions WHERE is_pending shows the errors.'
             ELSE 'pgrecall graph build'
         END),
        (12, 'locale', lower('ÄЖ') = 'äж', 'warn', (SELECT d.datctype FROM pg_database d WHERE d.datname = current_database()),
         'Capitals beyond ASCII are other letters here: create the database with LC_CTYPE ''C.UTF-8'' TEMPLATE template0.')
    ) AS c (place, check_name, good, otherwise, detail, remedy)
    ORDER BY c.place;
END;

COMMENT ON FUNCTION pgrecall.health IS 'What is in order and what is not, with what to run; pgrecall doctor prints it.';
