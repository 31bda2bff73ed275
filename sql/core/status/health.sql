-- Returns one row per check, with a remedy for each problem. pgrecall doctor prints it.
--
-- status  ok; info: no action needed; warn: recall is or will become slower or less accurate; fail: something is broken
CREATE OR REPLACE FUNCTION pgrecall.health()
RETURNS TABLE (check_name text, status text, detail text, remedy text)
-- Restricted, as the statistics are.
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT c.check_name, CASE WHEN c.good THEN 'ok' ELSE c.otherwise END, c.detail,
           CASE WHEN c.good THEN NULL ELSE c.remedy END
    FROM public.recall_status() s
    CROSS JOIN LATERAL (
        SELECT string_agg(i.index_name, ', ') AS names,
               -- Leftovers of an interrupted REINDEX CONCURRENTLY do not count: the old index is still valid.
               string_agg(format(CASE WHEN i.index_name ~ '_cc(new|old)[0-9]*$' THEN 'DROP INDEX CONCURRENTLY pgrecall.%I'
                                      ELSE 'REINDEX INDEX CONCURRENTLY pgrecall.%I' END, i.index_name), '; ') AS repair
        FROM pgrecall.index_status() i
        WHERE NOT i.is_valid AND NOT i.is_building
    ) x
    CROSS JOIN LATERAL (
        SELECT COALESCE(NULLIF(current_setting('hnsw.ef_search', true), ''), '40')::integer AS ef_search,
               COALESCE(current_setting('hnsw.iterative_scan', true), 'off') AS iterative_scan,
               (SELECT min(f.name) FROM pgrecall.settings_in_force f
                WHERE NOT pgrecall.is_valid_setting(f.name, f.value)) AS bad_setting
    ) g
    CROSS JOIN LATERAL (
        -- A leg returns at least k candidates. NULL: a setting is invalid.
        SELECT _pgrecall.leg_depth(
                   1, max(f.value::double precision) FILTER (WHERE f.name = 'dense_pool'),
                   max(f.value::numeric::integer) FILTER (WHERE f.name = 'leg_depth'),
                   max(f.value::numeric::integer) FILTER (WHERE f.name = 'k')
               ) AS depth
        FROM pgrecall.settings_in_force f
        WHERE f.name IN ('k', 'leg_depth', 'dense_pool') AND g.bad_setting IS NULL
    ) l
    CROSS JOIN LATERAL (
        SELECT count(*) AS alive,
               count(*) FILTER (WHERE s.generation = ANY (w.generations)) AS embedding,
               count(*) FILTER (WHERE s.other_generation = ANY (w.generations)) AS building,
               string_agg(format('%s:%s', w.hostname, w.pid), ', ') FILTER (WHERE NOT w.is_current) AS outdated,
               string_agg(format('%s:%s looks every %s s', w.hostname, w.pid, w.poll_seconds), ', ')
                   FILTER (WHERE w.poll_seconds > 0) AS deaf,
               string_agg(format('%s:%s works as %s', w.hostname, w.pid, w.role_name), ', ')
                   FILTER (WHERE NOT w.is_confined) AS unconfined
        FROM pgrecall.worker_status() w
        WHERE w.is_alive
    ) e
    CROSS JOIN LATERAL (
        SELECT string_agg(DISTINCT format('%s: %s until %s', p.model, p.cause, p.until), ', ')
                   FILTER (WHERE p.cause <> 'disk_full') AS pauses,
               bool_or(p.cause = 'disk_full') AS is_disk_full
        FROM pgrecall.worker_status() w
        CROSS JOIN LATERAL jsonb_to_recordset(w.pauses) AS p (model text, cause text, until text)
        WHERE w.is_alive
    ) p
    CROSS JOIN LATERAL (
        SELECT string_agg(format('%s %s', c.value, c.key), ', ' ORDER BY c.value::bigint DESC, c.key) AS causes
        FROM jsonb_each_text(s.failures_by_cause) c
    ) f
    CROSS JOIN LATERAL (
        -- Kinds of jobs other than those of checks of their own.
        SELECT string_agg(format('%s of %s', j.value ->> 'failed', j.key), ', ' ORDER BY j.key)
                   FILTER (WHERE (j.value ->> 'failed')::bigint > 0) AS kinds,
               string_agg(format('%s: %s pending, %s in progress, %s retrying, %s failed%s', j.key, j.value ->> 'pending',
                                 j.value ->> 'in_progress', j.value ->> 'retrying', j.value ->> 'failed',
                                 ', the oldest waits for ' || make_interval(secs => (j.value ->> 'seconds')::bigint)),
                          '; ' ORDER BY j.key)
                   FILTER (WHERE j.key <> 'text' AND (j.value ->> 'pending')::bigint > 0) AS waiting,
               COALESCE(max((j.value ->> 'seconds')::bigint) FILTER (WHERE j.key <> 'text'), 0) AS seconds
        FROM jsonb_each(s.jobs) j
        WHERE j.key <> 'embedding'
    ) h
    CROSS JOIN LATERAL (
        SELECT string_agg(format('%s: %s dead of %s', t.relname, t.n_dead_tup, t.n_dead_tup + t.n_live_tup), ', ')
                   AS tables,
               string_agg(format('pgrecall.%I', t.relname), ', ') AS names
        FROM pg_stat_all_tables t
        WHERE t.schemaname = 'pgrecall' AND t.n_dead_tup > 10000
          AND 5 * t.n_dead_tup > t.n_dead_tup + t.n_live_tup
    ) d
    CROSS JOIN LATERAL (
        SELECT t.n_mod_since_analyze AS changed, t.n_live_tup AS rows
        FROM pg_stat_all_tables t WHERE t.relid = 'pgrecall.memories'::regclass
    ) a
    CROSS JOIN LATERAL (
        -- Per namespace, because each recall reads the pending postings of one namespace only.
        SELECT COALESCE(max(u.memories), 0) AS most
        FROM (SELECT count(*) AS memories FROM pgrecall.pending_postings u GROUP BY u.namespace_id) u
    ) u
    CROSS JOIN LATERAL (
        -- NULL: too small to matter, or the caller does not see every row. A posting takes 12 bytes, a list its row and its
        -- place in the index, too.
        SELECT s.bytes,
               CASE WHEN s.bytes > 33554432 AND _pgrecall.sees_all()
                    THEN (SELECT sum(16.0 * l.documents + 150) FROM pgrecall.term_stats l WHERE l.term <> '') END AS needed,
               (SELECT count(*) FROM pgrecall.posting_states p WHERE p.separated_at IS NULL) AS mixed
        FROM (SELECT pg_total_relation_size('pgrecall.postings') AS bytes) s
    ) b
    CROSS JOIN LATERAL (
        SELECT string_agg(c.relname, ', ') FILTER (WHERE o.is_off) AS off,
               string_agg(format('ALTER TABLE pgrecall.%I RESET (autovacuum_enabled)', c.relname), '; ') FILTER (WHERE o.is_off)
                   AS repair,
               -- Vacuumed a moment ago and still full of dead rows: something old could still see them.
               string_agg(c.relname, ', ') FILTER (WHERE y.n_dead_tup > 50000 AND y.n_dead_tup > y.n_live_tup
                                                   AND greatest(y.last_autovacuum, y.last_vacuum) > now() - interval '10 minutes') AS held
        FROM pg_class c
        JOIN pg_stat_all_tables y ON y.relid = c.oid
        CROSS JOIN LATERAL (
            SELECT COALESCE(bool_or(NOT x.option_value::boolean), false) AS is_off
            FROM pg_options_to_table(c.reloptions) x WHERE x.option_name = 'autovacuum_enabled'
        ) o
        WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r'
    ) y
    CROSS JOIN LATERAL (
        SELECT count(*) AS behind
        FROM (
            SELECT DISTINCT c.namespace_id FROM pgrecall.page_changes c
            WHERE c.changed_at < now() - greatest(interval '10 minutes', 3 * pgrecall.stored_setting('page_delay')::interval)
              AND EXISTS (SELECT FROM pgrecall.pages p WHERE p.namespace_id = c.namespace_id)
        ) n
    ) z
    CROSS JOIN LATERAL (
        -- Logical replication copies rows and no sequences: where this one is behind, the others are. A shard numbers from a
        -- range of its own. OFFSET: the answer is needed three times and looked for once.
        SELECT EXISTS (SELECT FROM pgrecall.memories m WHERE m.id > i.last AND m.id <= i.most) AS are_taken
        FROM (
            SELECT s.last_value - (NOT s.is_called)::integer AS last, q.seqmax AS most
            FROM pgrecall.memories_id_seq s
            JOIN pg_sequence q ON q.seqrelid = 'pgrecall.memories_id_seq'::regclass
        ) i
        OFFSET 0
    ) i
    CROSS JOIN LATERAL pgrecall.grant_status() t
    CROSS JOIN LATERAL (
        -- With another owner, a function shows rows that the caller was not granted. A restore without owners causes this.
        SELECT string_agg(DISTINCT pg_get_userbyid(r.proowner), ', ') AS others
        FROM pg_proc r
        WHERE r.prosecdef AND r.pronamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace, 'public'::regnamespace)
          AND 'search_path=pg_catalog, pgrecall, pg_temp' = ANY (r.proconfig)
          AND pg_get_userbyid(r.proowner) NOT IN ('pgrecall_gate', 'pgrecall_engine')
    ) o
    CROSS JOIN LATERAL (SELECT pgrecall.path_creators() AS creators) v
    CROSS JOIN LATERAL (
        -- Other settings with which the server logs parameters, statements and rows.
        SELECT string_agg(format('%s = %s', w.name, current_setting(w.name)), ', ') AS loud,
               format('%s; SELECT pg_reload_conf(). That takes a superuser; '
                       'on a managed service set them in the provider''s parameter group.%s',
                      string_agg(format('ALTER SYSTEM SET %s = %s', w.name, w.quiet), '; '),
                      -- The others can be set for a database, by a role that may.
                      ' A role that may set them can also do so for the database: '
                      || string_agg(format('ALTER DATABASE %I SET %s = %s', current_database(), w.name, w.quiet), '; ')) AS repair
        FROM (VALUES ('log_error_verbosity', 'terse'), ('log_min_error_statement', 'panic'),
                     ('log_parameter_max_length', '0'), ('log_parameter_max_length_on_error', '0')) w (name, quiet)
        WHERE current_setting(w.name) <> w.quiet
    ) q
    CROSS JOIN LATERAL (VALUES
        (1, 'server version', current_setting('server_version_num')::integer BETWEEN 150000 AND 189999, 'warn',
         'PostgreSQL ' || s.server_version, 'pgrecall is tested on PostgreSQL 15 to 18.'),
        (2, 'encoding', current_setting('server_encoding') = 'UTF8', 'fail', current_setting('server_encoding'),
         'Create the database with ENCODING ''UTF8'' TEMPLATE template0.'),
        (3, 'pgvector', string_to_array(s.pgvector_version, '.')::integer[] >= ARRAY[0, 8], 'fail',
         'pgvector ' || s.pgvector_version, 'Install pgvector 0.8 or newer, then ALTER EXTENSION vector UPDATE.'),
        (4, 'indexes', x.names IS NULL AND s.dense_index_valid, 'fail',
         COALESCE('invalid: ' || x.names,
                  CASE WHEN s.dense_index_valid THEN 'all valid' ELSE 'the index of the embeddings is missing' END),
         COALESCE(x.repair, (
             SELECT format('CREATE INDEX CONCURRENTLY memories_%s_idx ON pgrecall.memories '
                           'USING hnsw (%I pgvector.halfvec_cosine_ops) WITH (m = 16, ef_construction = 64) '
                           'WHERE deleted_at IS NULL', n.column_name, n.column_name)
             FROM pgrecall.generations n WHERE n.id = s.generation))),
        (5, 'settings', g.bad_setting IS NULL, 'fail',
         COALESCE('pgrecall.' || g.bad_setting || ' is out of range', 'all valid'),
         'SELECT * FROM pgrecall.settings_in_force shows values and ranges; RESET it or use pgrecall.set_setting().'),
        (6, 'hnsw.ef_search', l.depth IS NULL OR g.ef_search >= l.depth, 'warn',
         format('%s, the legs go %s deep', g.ef_search, l.depth),
         -- Only a superuser may set a parameter of a library that is not loaded.
         format('SELECT ''[1]''::pgvector.vector; ALTER DATABASE %I SET hnsw.ef_search = %s',
                current_database(), greatest(100, l.depth))),
        (7, 'hnsw.iterative_scan', g.iterative_scan <> 'off', 'warn', g.iterative_scan,
         format('SELECT ''[1]''::pgvector.vector; ALTER DATABASE %I SET hnsw.iterative_scan = relaxed_order',
                current_database())),
        (8, 'embedding model', s.model IS NOT NULL, 'warn',
         COALESCE(s.model || ', ' || s.dimension || ' dimensions', 'none chosen'), 'pgrecall migrate --model NAME'),
        (9, 'generations', s.other_state IS NULL OR s.other_state = 'building' AND e.building > 0,
         CASE s.other_state WHEN 'building' THEN 'warn' ELSE 'info' END,
         format('%s active', s.generation) || CASE s.other_state
             WHEN 'building' THEN
                 format(', %s (%s) is being built by %s embedders', s.other_generation, s.other_model, e.building)
             WHEN 'retired' THEN format(', %s (%s) is retired and takes room', s.other_generation, s.other_model)
             ELSE ''
         END,
         CASE s.other_state WHEN 'building' THEN 'pgrecall reembed --model ' || s.other_model
                            ELSE 'pgrecall reembed --drop-old' END),
        (10, 'embedder', e.embedding > 0 OR s.pending = s.failed, 'warn',
         e.alive || ' alive'
             || CASE WHEN e.alive > e.embedding THEN format(', %s for the active model', e.embedding) ELSE '' END,
         'pgrecall embedder'),
        (11, 'pending embeddings', s.oldest_pending IS NULL OR s.oldest_pending < interval '10 minutes', 'warn',
         format('%s pending, %s in progress, %s retrying%s', s.pending, s.in_progress, s.retrying,
                ', the oldest waits for ' || date_trunc('second', s.oldest_pending)),
         CASE WHEN e.embedding > 0 THEN 'SELECT * FROM pgrecall.jobs WHERE attempts > 0 shows the errors.'
              ELSE 'pgrecall embedder' END),
        (12, 'failures', s.failed = 0 AND h.kinds IS NULL, 'warn',
         COALESCE('no longer retried: ' || NULLIF(concat_ws(', ', f.causes, h.kinds), ''), 'none'),
         CASE WHEN s.failures_by_cause ? 'unreadable'
             THEN 'The model does not know the language of the unreadable ones, which are found by words only. '
                  'A model of their language: pgrecall reembed --model NAME.'
             ELSE 'pgrecall failures' END),
        (13, 'provider', p.pauses IS NULL, 'warn', COALESCE(p.pauses, 'none is paused'),
         'Embedders ask again by themselves then. If it goes on, look at the provider''s key and quota, and their log.'),
        (14, 'embedder''s code', e.outdated IS NULL, 'warn',
         COALESCE('another version: ' || e.outdated, 'that of the database'),
         'Install the database''s version of pgrecall there, and start the embedder again.'),
        (32, 'notifications', e.deaf IS NULL, 'warn',
         COALESCE('they do not reach ' || e.deaf || ', so questions wait', 'they reach the embedders'),
         'Start it with PGRECALL_EMBEDDER_LISTEN_DSN, a direct connection: a pooler may be between.'),
        (15, 'embedder''s role', e.unconfined IS NULL, 'info',
         COALESCE(e.unconfined, 'sees no sensitive memory'),
         'CREATE ROLE … LOGIN IN ROLE pgrecall_embedder, and let the embedder log in as that.'),
        (16, 'pending extractions',
         s.oldest_pending_extraction IS NULL OR s.oldest_pending_extraction < interval '10 minutes', 'warn',
         format('%s pending, %s retrying, %s failed%s', s.pending_extractions, s.retrying_extractions, s.failed_extractions,
                ', the oldest waits for ' || date_trunc('second', s.oldest_pending_extraction)),
         CASE
             WHEN e.alive > 0 OR s.retrying_extractions + s.failed_extractions = s.pending_extractions THEN
                 'SELECT * FROM pgrecall.jobs WHERE kind = ''text'' AND attempts > 0 shows the errors.'
             ELSE 'pgrecall graph build'
         END),
        (17, 'postings', u.most <= 1000, 'warn', format('%s memories are not in them yet', s.pending_postings),
         'SELECT pgrecall.flush_pending_postings(), until it returns 0; an embedder does so by itself.'),
        (18, 'statistics',
         -- A standby has no counters; it plans with the statistics of its primary.
         pg_is_in_recovery() OR s.memories < 1000 OR s.analyzed_at IS NOT NULL AND a.changed <= greatest(10000, a.rows / 2), 'warn',
         -- How many rows others changed is not for a tenant.
         COALESCE('made ' || date_trunc('second', s.analyzed_at)
                  || CASE WHEN _pgrecall.sees_all() THEN format(', %s rows changed since', a.changed) ELSE '' END,
                  CASE WHEN pg_is_in_recovery() THEN 'the primary''s' ELSE 'not made since the server lost count' END),
         'SELECT pgrecall.analyze()'),
        (19, 'dead rows', d.tables IS NULL, 'warn', COALESCE(d.tables, 'few'), 'VACUUM (ANALYZE) ' || d.names),
        (20, 'locale', lower('ÄЖ') = 'äж', 'warn',
         (SELECT d.datctype FROM pg_database d WHERE d.datname = current_database()),
         'Capitals beyond ASCII are other letters here: create the database with LC_CTYPE ''C.UTF-8'' TEMPLATE template0.'),
        (21, 'standby', NOT pg_is_in_recovery(), 'info',
         CASE WHEN pg_is_in_recovery()
              THEN format('it answers recalls only, as of %s',
                          COALESCE(date_trunc('second', pg_last_xact_replay_timestamp())::text, 'its start'))
              ELSE 'no, it takes writes' END,
         'Writers and embedders belong to the primary; SELECT pg_promote() makes this one it.'),
        (22, 'roles without a grant', t.blind IS NULL, 'info',
         COALESCE('see nothing: ' || t.blind, 'none'),
         'SELECT pgrecall.grant_namespace(role, namespace), or GRANT pgrecall_everywhere TO the role.'),
        (23, 'grants without a role', COALESCE(t.lost, 0) = 0, 'info', COALESCE(t.lost, 0)::text,
         'SELECT pgrecall.revoke_lost_grants()'),
        (24, 'owners of functions', o.others IS NULL, 'fail',
         COALESCE('tenants are not kept apart: some functions belong to ' || o.others, 'pgrecall_gate and pgrecall_engine'),
         'pgrecall migrate'),
        (25, 'functions'' search_path', v.creators IS NULL, 'warn',
         COALESCE('may create there: ' || v.creators, 'nobody else may create there'),
         'REVOKE CREATE ON SCHEMA … FROM the role; who owns the schema or the database may do anything in it: let another own it.'),
        (26, 'server log', q.loud IS NULL, 'warn', COALESCE('it may quote memories and queries: ' || q.loud, 'quotes no memory or query'),
         q.repair),
        (27, 'size of postings', b.needed IS NULL OR b.bytes <= 4 * b.needed, 'warn',
         CASE WHEN b.needed IS NULL THEN 'small, or for an administrator to see'
              ELSE format('%s, about %s if written anew', pg_size_pretty(b.bytes), pg_size_pretty(b.needed)) END,
         'VACUUM FULL pgrecall.postings, in a quiet hour: recall waits for it.'),
        (28, 'postings of the past', b.mixed = 0, 'warn',
         CASE WHEN b.mixed = 0 THEN 'apart from the others' ELSE format('not yet apart in %s namespaces', b.mixed) END,
         'CALL pgrecall.rebuild_all_postings()'),
        (29, 'vacuum', y.off IS NULL AND y.held IS NULL
         AND current_setting('autovacuum')::boolean AND current_setting('track_counts')::boolean,
         'warn',
         CASE WHEN NOT current_setting('autovacuum')::boolean OR NOT current_setting('track_counts')::boolean THEN 'autovacuum is off'
              ELSE COALESCE('autovacuum is off for ' || y.off, 'an old transaction keeps dead rows of ' || y.held, 'autovacuum is on') END,
         CASE WHEN NOT current_setting('autovacuum')::boolean OR NOT current_setting('track_counts')::boolean
                  THEN 'ALTER SYSTEM RESET autovacuum; ALTER SYSTEM RESET track_counts; SELECT pg_reload_conf(). '
                       'On a managed service reset them in the provider''s parameter group.'
              WHEN y.off IS NOT NULL THEN y.repair
              ELSE 'Look for old transactions in pg_stat_activity (backend_xmin), pg_prepared_xacts and pg_replication_slots (xmin).' END),
        -- How much room is left, no function of PostgreSQL says.
        (30, 'disk', p.is_disk_full IS NOT TRUE, 'fail',
         CASE WHEN p.is_disk_full THEN 'full: the server has refused what an embedder wrote' ELSE 'no embedder was refused room' END,
         'Make room on the server''s disk: for the data folder, WAL, and tablespaces. Embedders go on by themselves.'),
        (31, 'notification queue', pgrecall.sends_notifications(), 'warn',
         format('the queue is %s %% full', round((100 * pg_notification_queue_usage())::numeric, 1)),
         'A session listens and holds a transaction open: SELECT pg_terminate_backend(pid) it. The oldest of SELECT pid, usename, '
         'xact_start FROM pg_stat_activity WHERE state LIKE ''idle in transaction%'' ORDER BY xact_start is the first to ask. '
         'Until then pgrecall notifies nobody, and embedders poll.'),
        (33, 'pages', z.behind = 0, 'warn',
         CASE WHEN z.behind = 0 THEN 'none is long behind' ELSE format('%s namespaces have pages that are behind', z.behind) END,
         CASE WHEN e.alive > 0 THEN 'SELECT pgrecall.refresh_pages() as an administrator shows the error.' ELSE 'pgrecall embedder' END),
        (34, 'pending jobs', h.seconds < 600, 'warn', COALESCE(h.waiting, 'none'),
         CASE WHEN e.alive > 0
             THEN 'SELECT * FROM pgrecall.jobs WHERE attempts > 0 shows the errors. Of a kind that is switched off, '
                  'DELETE FROM pgrecall.jobs WHERE kind = … drops what waits; pgrecall.reextract() queues it again.'
             ELSE 'pgrecall embedder' END),
        (35, 'ids', NOT i.are_taken, 'fail',
         CASE WHEN i.are_taken THEN 'the sequences are behind, as after logical replication: a new memory gets an id that is taken'
              ELSE 'new ones are free' END,
         'pgrecall migrate')
    ) AS c (place, check_name, good, otherwise, detail, remedy)
    ORDER BY c.place;
END;

ALTER FUNCTION pgrecall.health OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.health TO pgrecall_reader;
