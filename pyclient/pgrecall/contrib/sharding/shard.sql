-- What a database needs to be a shard, in a schema of its own: pgrecall.contrib.sharding runs this, again and again.
--
-- pgrecall's own schema stays as it is, so `pgrecall migrate` knows nothing of shards.
CREATE SCHEMA IF NOT EXISTS pgrecall_shard;
COMMENT ON SCHEMA pgrecall_shard IS 'pgrecall: this database is one shard of several behind a router';

CREATE TABLE IF NOT EXISTS pgrecall_shard.identity (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    shard integer NOT NULL CHECK (shard BETWEEN 0 AND 2046),
    cluster text NOT NULL
);
COMMENT ON TABLE pgrecall_shard.identity IS 'Which shard this is, and of which router.';

CREATE TABLE IF NOT EXISTS pgrecall_shard.moves (
    namespace_id integer PRIMARY KEY,
    namespace text NOT NULL UNIQUE,
    target integer NOT NULL,
    state text NOT NULL CHECK (state IN ('copying', 'sealed', 'arriving')),
    started_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE pgrecall_shard.moves IS
    'Namespaces on their way to another shard, or from one. A sealed one takes no write here any more.';

-- Gives the transaction the settings that the caller's session at the router has.
--
-- Returns true, so that a query can make its function wait for it.
CREATE OR REPLACE FUNCTION pgrecall_shard.use_settings(settings jsonb)
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    PERFORM set_config(s.name, s.value, true) FROM jsonb_each_text(settings) s (name, value);
    RETURN true;
END
$function$;

COMMENT ON FUNCTION pgrecall_shard.use_settings IS
    'Gives the transaction the settings that the caller''s session at the router has.';

-- The memories of all namespaces, or of those named, that are most relevant to a query: each namespace recalled by
-- itself, and the lists merged by score.
--
-- It costs a recall a namespace. Scores of two namespaces are on one scale, but each is relative to the words and the
-- best hit of its own: the order across namespaces is a suggestion.
CREATE OR REPLACE FUNCTION pgrecall_shard.recall_all(
    query text, query_vec pgvector.halfvec, k integer, namespaces text[], settings jsonb
)
RETURNS TABLE (
    namespace text, id bigint, external_id text, title text, content text, score double precision,
    similarity double precision, category text, tags text[], metadata jsonb, speaker text, session text, source text,
    occurred_at timestamptz, created_at timestamptz, is_sensitive boolean
)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        SELECT n.name, r.id, r.external_id, r.title, r.content, r.score::double precision,
               r.similarity::double precision, r.category, r.tags, r.metadata, r.speaker, r.session, r.source,
               r.occurred_at, r.created_at, r.is_sensitive
        FROM pgrecall.namespaces n
        CROSS JOIN LATERAL public.recall(
            recall_all.query, recall_all.query_vec, recall_all.k, n.name, settings => recall_all.settings
        ) r
        WHERE recall_all.namespaces IS NULL OR n.name = ANY (recall_all.namespaces)
        ORDER BY r.score DESC, n.name, r.id
        LIMIT recall_all.k;
END
$function$;

COMMENT ON FUNCTION pgrecall_shard.recall_all IS
    'The memories of all namespaces of this shard, or of those named, that are most relevant to a query.';

-- The tables that hold rows of namespaces: their columns, and what tells a namespace's rows, with its id for %s.
--
-- Those that only a memory ties to its namespace come first: they go before the memories go. What is hashed of a vector
-- is its bytes: to write it as text takes longer than all else.
CREATE OR REPLACE FUNCTION pgrecall_shard.namespace_tables()
RETURNS TABLE (name text, columns text, hashed text, condition text, tied_by text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $function$
    SELECT c.relname::text,
           (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attname) FROM pg_attribute a
            WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''),
           (SELECT string_agg(
                CASE WHEN y.typname = 'halfvec' THEN format('%I.halfvec_send(%I)', n.nspname, a.attname)
                     ELSE quote_ident(a.attname) END, ', ' ORDER BY a.attname
            )
            FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid JOIN pg_namespace n ON n.oid = y.typnamespace
            WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''),
           CASE t.tied_by
               WHEN 'memory' THEN 'memory_id IN (SELECT m.id FROM pgrecall.memories m WHERE m.namespace_id = %s)'
               WHEN 'name' THEN 'id = %s'
               ELSE 'namespace_id = %s'
           END,
           t.tied_by
    FROM pg_class c
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN c.relname = 'namespaces' THEN 'name'
            -- Its rows are of workers: a claim goes on with other namespaces while one moves.
            WHEN c.relname = 'jobs' THEN 'memory'
            WHEN bool_or(a.attname = 'namespace_id') THEN 'namespace'
            WHEN bool_or(a.attname = 'memory_id') THEN 'memory'
        END AS tied_by
        FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    ) t
    WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r' AND t.tied_by IS NOT NULL
    ORDER BY array_position(ARRAY['memory', 'namespace', 'name'], t.tied_by), c.relname
$function$;

COMMENT ON FUNCTION pgrecall_shard.namespace_tables IS 'The tables that hold rows of namespaces, and what tells those of one.';

-- Trigger on every table with rows of namespaces, while one of them moves.
--
-- Where it comes from its writers wait for the last rows to be copied, and are then sent to the other shard. Where it
-- arrives nothing is written but by the copy, which fires no trigger: an embedder at work there finds nothing to do.
--
-- TG_ARGV  the namespace's id; 'leaving' or 'arriving'; 'memory' where a memory says whose the rows are
--
-- Errors  40001 the namespace has moved
CREATE OR REPLACE FUNCTION pgrecall_shard.writes_wait()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    moving CONSTANT integer := TG_ARGV[0]::integer;
BEGIN
    IF TG_ARGV[2] = 'memory' THEN
        -- A block of its own: the other tables have no such column.
        IF NOT EXISTS (
            SELECT FROM pgrecall.memories m
            WHERE m.namespace_id = moving
              AND m.id IN (
                  CASE WHEN TG_OP <> 'INSERT' THEN OLD.memory_id END, CASE WHEN TG_OP <> 'DELETE' THEN NEW.memory_id END
              )
        ) THEN
            RETURN COALESCE(NEW, OLD);
        END IF;
    END IF;
    IF TG_ARGV[1] = 'arriving' THEN
        RETURN NULL;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(1885827954, moving);
    IF EXISTS (SELECT FROM pgrecall_shard.moves m WHERE m.namespace_id = moving AND m.state = 'sealed') THEN
        -- Queues are among these tables: an embedder is to go on with other namespaces, however long this takes.
        IF TG_ARGV[2] = 'memory' THEN
            RETURN NULL;
        END IF;
        RAISE EXCEPTION 'the namespace is moving to another shard'
            USING ERRCODE = 'serialization_failure', HINT = 'Try again; if it stays so, run `pgrecall shard move` again.';
    END IF;
    RETURN COALESCE(NEW, OLD);
END
$function$;

COMMENT ON FUNCTION pgrecall_shard.writes_wait IS 'Trigger: writers of a namespace wait while its last rows move.';

-- The statements that put the triggers on a table, or take them away; a row a table.
--
-- role  'leaving' or 'arriving'
CREATE OR REPLACE FUNCTION pgrecall_shard.trigger_statements(namespace_id integer, role text)
RETURNS TABLE (made text, dropped text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $function$
    SELECT string_agg(format(
               'CREATE OR REPLACE TRIGGER %I BEFORE %s ON pgrecall.%I FOR EACH ROW %s '
               'EXECUTE FUNCTION pgrecall_shard.writes_wait(%s, %L, %L)',
               o.name, o.event, t.name,
               CASE WHEN t.tied_by <> 'memory' THEN format(o.condition, c.column_name, trigger_statements.namespace_id) END,
               trigger_statements.namespace_id, trigger_statements.role, t.tied_by
           ), '; '),
           string_agg(format('DROP TRIGGER IF EXISTS %I ON pgrecall.%I', o.name, t.name), '; ')
    FROM pgrecall_shard.namespace_tables() t
    CROSS JOIN LATERAL (SELECT CASE t.tied_by WHEN 'name' THEN 'id' ELSE 'namespace_id' END AS column_name) c
    CROSS JOIN LATERAL (
        VALUES ('a_move_' || trigger_statements.namespace_id || '_i', 'INSERT', 'WHEN (NEW.%1$I = %2$s)'),
               ('a_move_' || trigger_statements.namespace_id || '_u', 'UPDATE', 'WHEN (OLD.%1$I = %2$s OR NEW.%1$I = %2$s)'),
               ('a_move_' || trigger_statements.namespace_id || '_d', 'DELETE', 'WHEN (OLD.%1$I = %2$s)')
    ) o (name, event, condition)
    GROUP BY t.name
$function$;

COMMENT ON FUNCTION pgrecall_shard.trigger_statements IS 'The statements that hold the writers of a namespace, or free them.';

-- Numbers for this shard alone: each sequence of ids draws from a range of its own, so that a namespace can move with
-- its ids. The ids of shard 0 begin with 1: a database with memories can become the first shard.
--
-- Errors  55000 it has ids of another range
CREATE OR REPLACE FUNCTION pgrecall_shard.take_ranges(shard integer)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    item record;
    first bigint;
    last bigint;
    next bigint;
BEGIN
    FOR item IN
        SELECT s.sequencename AS name, s.data_type FROM pg_sequences s
        WHERE s.schemaname = 'pgrecall' AND s.sequencename NOT IN ('embedding_models_id_seq', 'generation_numbers')
    LOOP
        first := take_ranges.shard * (1::bigint << CASE item.data_type WHEN 'integer'::regtype THEN 20 ELSE 40 END) + 1;
        last := first - 1 + (1::bigint << CASE item.data_type WHEN 'integer'::regtype THEN 20 ELSE 40 END);
        EXECUTE format('SELECT s.last_value + s.is_called::integer FROM pgrecall.%I s', item.name) INTO next;
        IF next > last OR (
            next < first AND item.name = 'memories_id_seq' AND EXISTS (SELECT FROM pgrecall.memories)
        ) THEN
            RAISE EXCEPTION 'pgrecall.% is outside the ids of shard %', item.name, take_ranges.shard
                USING ERRCODE = 'object_not_in_prerequisite_state',
                      HINT = 'A database with memories becomes shard 0; bring those of others in by export and import.';
        END IF;
        EXECUTE format(
            'ALTER SEQUENCE pgrecall.%I MINVALUE %s MAXVALUE %s START %s RESTART %s', item.name, first, last, first,
            greatest(first, next)
        );
        -- Else no number counts as given out, and policies refuse what changes the rows that have them.
        IF next > first THEN
            PERFORM setval(format('pgrecall.%I', item.name), next - 1);
        END IF;
    END LOOP;
END
$function$;

COMMENT ON FUNCTION pgrecall_shard.take_ranges IS 'Gives every sequence of ids the range of a shard.';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pgrecall_shard FROM PUBLIC;
GRANT USAGE ON SCHEMA pgrecall_shard TO pgrecall_reader;
GRANT EXECUTE ON FUNCTION pgrecall_shard.use_settings TO pgrecall_reader;
GRANT EXECUTE ON FUNCTION pgrecall_shard.recall_all TO pgrecall_admin;
