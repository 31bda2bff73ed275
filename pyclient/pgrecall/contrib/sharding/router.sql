-- What a database needs to be the router of several shards: pgrecall.contrib.sharding runs this, again and again, and adds the
-- routed functions, which it writes from the catalog of a shard.
CREATE SCHEMA IF NOT EXISTS pgrecall;
CREATE SCHEMA IF NOT EXISTS pgrecall_router;
COMMENT ON SCHEMA pgrecall IS 'pgrecall: functions that run on the shard of a namespace';
COMMENT ON SCHEMA pgrecall_router IS 'pgrecall: where namespaces are';

CREATE TABLE IF NOT EXISTS pgrecall_router.installation (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    cluster text NOT NULL DEFAULT gen_random_uuid()::text,
    bundle_hash text
);
CREATE TABLE IF NOT EXISTS pgrecall_router.shards (
    shard integer PRIMARY KEY CHECK (shard BETWEEN 0 AND 2046),
    conninfo text NOT NULL
);
CREATE TABLE IF NOT EXISTS pgrecall_router.namespaces (
    name text PRIMARY KEY,
    shard integer NOT NULL REFERENCES pgrecall_router.shards
);
CREATE TABLE IF NOT EXISTS pgrecall_router.moved_memories (
    first bigint PRIMARY KEY,
    last bigint NOT NULL CHECK (last >= first),
    namespace_id integer,
    shard integer NOT NULL REFERENCES pgrecall_router.shards
);
ALTER TABLE pgrecall_router.moved_memories ADD COLUMN IF NOT EXISTS namespace_id integer;
CREATE INDEX IF NOT EXISTS moved_memories_namespace_id ON pgrecall_router.moved_memories (namespace_id);
CREATE TABLE IF NOT EXISTS pgrecall_router.settings (
    name text PRIMARY KEY,
    default_value text,
    stored_value text
);
COMMENT ON TABLE pgrecall_router.shards IS 'The shards, and how to reach them; user and password are in the user mappings.';
COMMENT ON TABLE pgrecall_router.namespaces IS 'Namespaces that are not where the hash of their name puts them, or need not stay.';
COMMENT ON TABLE pgrecall_router.moved_memories IS 'Ids of memories that are not on the shard whose range they are from.';
COMMENT ON TABLE pgrecall_router.settings IS 'What of a session at the router goes with its calls, where it is not the default.';

-- PL/Proxy connects to a shard with the account that the caller's user mapping names. It needs USAGE on the server, and USAGE lets a role
-- make a mapping for itself: without this, a tenant would name another role, and be that role on the shards.
CREATE OR REPLACE FUNCTION pgrecall_router.refuse_mapping()
RETURNS event_trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) THEN
        RAISE EXCEPTION 'only a superuser may change user mappings on a router of pgrecall'
            USING ERRCODE = 'insufficient_privilege', HINT = 'Ask an administrator of this server to run it.';
    END IF;
END
$function$;
COMMENT ON FUNCTION pgrecall_router.refuse_mapping IS 'Event trigger: refuses user mappings that a role makes for itself.';
DROP EVENT TRIGGER IF EXISTS pgrecall_router_mappings;
CREATE EVENT TRIGGER pgrecall_router_mappings ON ddl_command_start
    WHEN TAG IN ('CREATE USER MAPPING', 'ALTER USER MAPPING', 'DROP USER MAPPING')
    EXECUTE FUNCTION pgrecall_router.refuse_mapping();

-- The namespace a call works in: the argument, else the setting pgrecall.namespace, else 'default'.
CREATE OR REPLACE FUNCTION pgrecall.namespace_name(namespace text)
RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
    SELECT COALESCE(
        namespace, NULLIF(current_setting('pgrecall.namespace', true), ''),
        (SELECT s.stored_value FROM pgrecall_router.settings s WHERE s.name = 'pgrecall.namespace'), 'default'
    )
$function$;

COMMENT ON FUNCTION pgrecall.namespace_name IS
    'The namespace a call works in: the argument, else the setting pgrecall.namespace, else ''default''.';

-- Where a new namespace goes: by the hash of its name, the same on every version of PostgreSQL.
CREATE OR REPLACE FUNCTION pgrecall_router.hashed_shard(namespace text)
RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
    SELECT (('x' || left(encode(sha256(convert_to(namespace, 'UTF8')), 'hex'), 7))::bit(28)::integer
            % (SELECT count(*) FROM pgrecall_router.shards))::integer
$function$;

COMMENT ON FUNCTION pgrecall_router.hashed_shard IS 'Where a new namespace goes: by the hash of its name.';

-- The shard of a namespace: looked up first, hashed otherwise.
CREATE OR REPLACE FUNCTION pgrecall_router.shard_of(namespace text)
RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
    SELECT COALESCE(
        (SELECT n.shard FROM pgrecall_router.namespaces n WHERE n.name = shard_of.namespace),
        pgrecall_router.hashed_shard(shard_of.namespace)
    )
$function$;

COMMENT ON FUNCTION pgrecall_router.shard_of IS 'The shard of a namespace: looked up first, hashed otherwise.';

-- The namespaces of a call that reads several: the argument, else the setting pgrecall.namespaces if the call names none. NULL: one.
CREATE OR REPLACE FUNCTION pgrecall_router.asked_namespaces(namespace text, namespaces text[])
RETURNS text[]
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
    SELECT COALESCE(namespaces, CASE WHEN namespace IS NULL THEN NULLIF(COALESCE(
        NULLIF(current_setting('pgrecall.namespaces', true), ''),
        (SELECT s.stored_value FROM pgrecall_router.settings s WHERE s.name = 'pgrecall.namespaces')
    ), '')::text[] END)
$function$;

COMMENT ON FUNCTION pgrecall_router.asked_namespaces IS 'The namespaces of a call that reads several; NULL: one.';

-- The one shard of several namespaces.
CREATE OR REPLACE FUNCTION pgrecall_router.shard_of_all(namespaces text[])
RETURNS integer
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    shards CONSTANT integer[] := ARRAY(SELECT DISTINCT pgrecall_router.shard_of(n.name) FROM unnest(namespaces) n (name));
BEGIN
    IF cardinality(shards) > 1 THEN
        RAISE EXCEPTION 'the namespaces of a call must be on one shard'
            USING ERRCODE = 'feature_not_supported',
                  HINT = 'Move them together with `pgrecall shard move`, or ask for those of each shard and merge.';
    END IF;
    RETURN COALESCE(shards[1], 0);
END
$function$;

COMMENT ON FUNCTION pgrecall_router.shard_of_all IS 'The one shard of several namespaces.';

-- The shard whose range an id is from; an id of no shard is nobody's, which any shard can say.
CREATE OR REPLACE FUNCTION pgrecall_router.shard_of_range(id bigint)
RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
    SELECT CASE
        WHEN id > 0 AND ((id - 1) >> 40) < (SELECT count(*) FROM pgrecall_router.shards) THEN ((id - 1) >> 40)::integer
        ELSE 0
    END
$function$;

-- The shard of a memory: where it was moved to, else the one whose range its id is from.
CREATE OR REPLACE FUNCTION pgrecall_router.shard_of_memory(id bigint)
RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
    SELECT COALESCE(
        (SELECT CASE WHEN shard_of_memory.id <= m.last THEN m.shard END
         FROM (SELECT m.last, m.shard FROM pgrecall_router.moved_memories m
               WHERE m.first <= shard_of_memory.id ORDER BY m.first DESC LIMIT 1) m),
        pgrecall_router.shard_of_range(shard_of_memory.id)
    )
$function$;

COMMENT ON FUNCTION pgrecall_router.shard_of_memory IS 'The shard of a memory, by its id.';
COMMENT ON FUNCTION pgrecall_router.shard_of_range IS 'The shard whose range an id is from.';

-- The settings of this session that go with its calls: the shard's session is another one.
CREATE OR REPLACE FUNCTION pgrecall_router.given()
RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
    SELECT jsonb_object_agg(s.name, s.value)
    FROM (
        SELECT s.name, current_setting(s.name, true) AS value, s.default_value FROM pgrecall_router.settings s
    ) s
    WHERE s.value <> '' AND s.value IS DISTINCT FROM s.default_value AND s.name <> 'pgrecall.namespace'
$function$;

COMMENT ON FUNCTION pgrecall_router.given IS 'The settings of this session that go with its calls.';

-- Whether an error says that a shard cannot be reached, or was lost on the way.
--
-- PL/Proxy's own errors all are XX000. Their beginning, which it does not translate, tells them apart.
CREATE OR REPLACE FUNCTION pgrecall_router.is_unreachable(state text, message text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN state LIKE '08%' OR state LIKE '57P0_' OR state = '53300'
    OR (state = 'XX000' AND (message LIKE 'PL/Proxy function %' OR message LIKE '%] REMOTE (null): %'));

COMMENT ON FUNCTION pgrecall_router.is_unreachable IS 'Whether an error says that a shard cannot be reached.';

-- Raises a shard's error as its own, without what PL/Proxy put around it.
--
-- shard  NULL: of all of them one was lost, and is looked for
--
-- Errors  08006 the shard cannot be reached;  else the shard's own
CREATE OR REPLACE FUNCTION pgrecall_router.refuse(shard integer, state text, message text, hint text)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $function$
DECLARE
    lost integer := refuse.shard;
    remote_message text := regexp_replace(refuse.message, '^\S+\(\d+\): \[[^]]*\] REMOTE \S+: ', '');
    remedy text := regexp_replace(refuse.hint, '^Remote hint: ', '');
BEGIN
    IF pgrecall_router.is_unreachable(refuse.state, refuse.message) THEN
        IF lost IS NULL THEN
            lost := pgrecall_router.lost_shard();
        END IF;
        RAISE EXCEPTION 'shard % cannot be reached', COALESCE(lost::text, 'of this call')
            USING ERRCODE = 'connection_failure',
                  HINT = 'Its namespaces alone are affected: start its server. `pgrecall shard list` tells where it is.';
    END IF;
    -- Names of columns get lost on the way, and tell an unknown language from an unknown namespace.
    IF remedy <> '' THEN
        RAISE EXCEPTION '%', remote_message USING ERRCODE = refuse.state, HINT = remedy, COLUMN =
            CASE WHEN refuse.state = '42704' AND remote_message LIKE '%text-search configuration%' THEN 'language' ELSE '' END;
    END IF;
    RAISE EXCEPTION '%', remote_message USING ERRCODE = refuse.state;
END
$function$;

COMMENT ON FUNCTION pgrecall_router.refuse IS 'Raises a shard''s error as its own, without what PL/Proxy put around it.';

CREATE OR REPLACE FUNCTION pgrecall_router.answers(shard integer)
RETURNS integer
LANGUAGE plproxy
AS $function$
    CLUSTER 'pgrecall';
    RUN ON shard;
    SELECT $1::integer;
$function$;

-- The first shard that does not answer; NULL if all do.
CREATE OR REPLACE FUNCTION pgrecall_router.lost_shard()
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    candidate integer;
BEGIN
    FOR candidate IN SELECT pgrecall_router.shards_from(0) LOOP
        BEGIN
            PERFORM pgrecall_router.answers(candidate);
        EXCEPTION WHEN OTHERS THEN
            RETURN candidate;
        END;
    END LOOP;
    RETURN NULL;
END
$function$;

COMMENT ON FUNCTION pgrecall_router.lost_shard IS 'The first shard that does not answer; NULL if all do.';

-- The shards in the order in which they are asked what all of them know, so that one that is down is passed over.
CREATE OR REPLACE FUNCTION pgrecall_router.shards_from(shard integer)
RETURNS SETOF integer
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
    SELECT s.shard FROM pgrecall_router.shards s
    ORDER BY s.shard < shards_from.shard, s.shard
$function$;

COMMENT ON FUNCTION pgrecall_router.shards_from IS 'All shards, the one asked for first.';

-- Who makes a namespace holds this until it is made, so that no shard is added meanwhile.
CREATE OR REPLACE FUNCTION pgrecall_router.keep_shards()
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $function$
    SELECT pg_advisory_xact_lock_shared(1885827954, -1)
$function$;

COMMENT ON FUNCTION pgrecall_router.keep_shards IS 'Keeps shards from being added until the transaction ends.';

-- The hash of the SQL code that the shards hold, as `pgrecall shard init` found it.
CREATE OR REPLACE FUNCTION pgrecall.bundle_hash()
RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
    SELECT i.bundle_hash FROM pgrecall_router.installation i
$function$;

COMMENT ON FUNCTION pgrecall.bundle_hash IS 'The hash of the SQL code that the shards hold.';

-- Stores the default namespace, which this database has to know.
CREATE OR REPLACE FUNCTION pgrecall_router.keep_setting(name text, value text)
RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
    UPDATE pgrecall_router.settings s SET stored_value = NULLIF(keep_setting.value, '')
    WHERE s.name = 'pgrecall.' || keep_setting.name
$function$;

COMMENT ON FUNCTION pgrecall_router.keep_setting IS 'Stores what the router itself has to know of a setting.';

-- Stores a setting on every shard; see there.
CREATE OR REPLACE FUNCTION pgrecall.set_setting(name text, value text)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    error_state text;
    error_message text;
    error_hint text;
BEGIN
    PERFORM pgrecall_router.run_set_setting(NULL, set_setting.name, set_setting.value);
    PERFORM pgrecall_router.keep_setting(set_setting.name, set_setting.value);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS error_state = RETURNED_SQLSTATE, error_message = MESSAGE_TEXT,
        error_hint = PG_EXCEPTION_HINT;
    PERFORM pgrecall_router.refuse(NULL, error_state, error_message, error_hint);
END
$function$;

COMMENT ON FUNCTION pgrecall.set_setting IS 'Stores a setting on every shard; NULL goes back to the default.';

-- Stores many memories; a batch for one shard, as it is there.
--
-- One for several is taken apart: what goes to one shard is stored whole or not at all, and where a shard refuses, what
-- went to those before it stays. A message then counts the memories of that shard alone.
CREATE OR REPLACE FUNCTION public.remember_many(
    memories jsonb, namespace text DEFAULT NULL, create_namespace boolean DEFAULT false, on_conflict text DEFAULT 'error'
)
RETURNS SETOF bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    home CONSTANT text := pgrecall.namespace_name(remember_many.namespace);
    part record;
    places bigint[];
    ids bigint[];
BEGIN
    IF remember_many.create_namespace THEN
        PERFORM pgrecall_router.keep_shards();
    END IF;
    IF jsonb_typeof(memories) IS DISTINCT FROM 'array' OR NOT memories @? '$[*].namespace' THEN
        RETURN QUERY SELECT pgrecall_router.remember_part(home, memories, home, create_namespace, on_conflict);
        RETURN;
    END IF;
    FOR part IN
        SELECT min(f.namespace) AS namespace, jsonb_agg(f.fields ORDER BY f.place) AS fields,
               array_agg(f.place ORDER BY f.place) AS places
        FROM (
            SELECT e.fields, e.place, COALESCE(e.fields ->> 'namespace', home) AS namespace
            FROM jsonb_array_elements(memories) WITH ORDINALITY e (fields, place)
        ) f
        JOIN (
            SELECT d.namespace, pgrecall_router.shard_of(d.namespace) AS shard
            FROM (
                SELECT DISTINCT COALESCE(e.fields ->> 'namespace', home) AS namespace
                FROM jsonb_array_elements(memories) e (fields)
            ) d
        ) s ON s.namespace = f.namespace
        GROUP BY s.shard
        ORDER BY s.shard
    LOOP
        ids := ids || ARRAY(
            SELECT pgrecall_router.remember_part(part.namespace, part.fields, home, create_namespace, on_conflict)
        );
        places := places || part.places;
    END LOOP;
    RETURN QUERY SELECT s.id FROM unnest(places, ids) s (place, id) ORDER BY s.place;
END
$function$;

COMMENT ON FUNCTION public.remember_many IS
    'Stores the memories of a JSON array on the shards of their namespaces; ids come back in its order.';

-- Stores memories on the shard of a namespace.
CREATE OR REPLACE FUNCTION pgrecall_router.remember_part(
    routed_by text, memories jsonb, namespace text, create_namespace boolean, on_conflict text
)
RETURNS SETOF bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    at_shard integer;
    error_state text;
    error_message text;
    error_hint text;
BEGIN
    FOR attempt IN 1..2 LOOP
        at_shard := pgrecall_router.shard_of(routed_by);
        BEGIN
            RETURN QUERY SELECT * FROM pgrecall_router.run_remember_many(
                at_shard, pgrecall_router.given(), memories, namespace, create_namespace, on_conflict
            );
            RETURN;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS error_state = RETURNED_SQLSTATE, error_message = MESSAGE_TEXT,
                error_hint = PG_EXCEPTION_HINT;
            -- The namespace may have moved meanwhile.
            IF attempt = 2 OR error_state <> '40001' THEN
                PERFORM pgrecall_router.refuse(at_shard, error_state, error_message, error_hint);
            END IF;
        END;
    END LOOP;
END
$function$;

COMMENT ON FUNCTION pgrecall_router.remember_part IS 'Stores memories on the shard of a namespace.';

-- The memories of all namespaces, or of those named, that are most relevant to a query, from all shards: the only
-- function that recalls from more than one shard, for administrators alone.
--
-- Each namespace is recalled by itself, and the lists are merged by score, which puts them on one scale and no more:
-- each score is relative to the words and the best hit of its own namespace.
CREATE OR REPLACE FUNCTION public.recall_all(
    query text, query_vec pgvector.halfvec DEFAULT NULL, k integer DEFAULT 10, namespaces text[] DEFAULT NULL, settings jsonb DEFAULT NULL
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
DECLARE
    error_state text;
    error_message text;
    error_hint text;
BEGIN
    RETURN QUERY
        SELECT d.*
        FROM (
            -- A namespace that is on the move is on two shards for a while.
            SELECT DISTINCT ON (r.id) r.*
            FROM pgrecall_router.run_recall_all(
                pgrecall_router.given(), recall_all.query, recall_all.query_vec, recall_all.k, recall_all.namespaces,
                recall_all.settings
            ) r
            ORDER BY r.id, r.score DESC
        ) d
        ORDER BY d.score DESC, d.namespace, d.id
        LIMIT recall_all.k;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS error_state = RETURNED_SQLSTATE, error_message = MESSAGE_TEXT,
        error_hint = PG_EXCEPTION_HINT;
    PERFORM pgrecall_router.refuse(NULL, error_state, error_message, error_hint);
END
$function$;

COMMENT ON FUNCTION public.recall_all IS
    'The memories of all namespaces, or of those named, that are most relevant to a query, from all shards; for administrators.';
