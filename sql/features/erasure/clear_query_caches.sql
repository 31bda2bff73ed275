-- Clears the query caches of every role that sees a namespace, and of dropped roles. Returns the row counts by table: of all roles
-- for who sees everything, else of the session's role.
--
-- Cached queries are hashes with vectors, or a language model's terms, so nobody can tell which ones quote an erased
-- memory. Caches of roles that do not see the namespace stay.
--
-- A role that only reads may hold its own in a transaction that it keeps open. Waits for a tenth of a second, then leaves what is still
-- held: it goes when it is too old, as what is cached later.
CREATE OR REPLACE FUNCTION _pgrecall.clear_query_caches(namespace_id integer)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    roles oid[];
    counted oid[];
    embeddings bigint := 0::bigint;
    expansions bigint := 0::bigint;
    number bigint;
BEGIN
    SELECT array_agg(a.role) INTO roles
    FROM (SELECT q.role::oid FROM pgrecall.query_embeddings q UNION SELECT e.role::oid FROM pgrecall.query_expansions e) a (role)
    LEFT JOIN pg_roles r ON r.oid = a.role
    WHERE CASE WHEN r.oid IS NULL THEN true ELSE _pgrecall.sees_namespace(a.role::regrole, clear_query_caches.namespace_id, false) END;
    -- How many another role has says that it asks something.
    counted := CASE WHEN _pgrecall.sees_all() THEN roles ELSE ARRAY[pgrecall.session_role()::oid] END;
    FOR attempt IN 0 .. 5 LOOP
        PERFORM pg_sleep(0.02) WHERE attempt > 0;
        WITH held AS MATERIALIZED (
            SELECT q.ctid FROM pgrecall.query_embeddings q WHERE q.role = ANY (roles) FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM pgrecall.query_embeddings q USING held h WHERE q.ctid = h.ctid RETURNING q.role
        )
        SELECT count(*) INTO number FROM gone g WHERE g.role = ANY (counted);
        embeddings := embeddings + number;
        WITH held AS MATERIALIZED (
            SELECT e.ctid FROM pgrecall.query_expansions e WHERE e.role = ANY (roles) FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM pgrecall.query_expansions e USING held h WHERE e.ctid = h.ctid RETURNING e.role
        )
        SELECT count(*) INTO number FROM gone g WHERE g.role = ANY (counted);
        expansions := expansions + number;
        EXIT WHEN NOT EXISTS (SELECT FROM pgrecall.query_embeddings q WHERE q.role = ANY (roles))
              AND NOT EXISTS (SELECT FROM pgrecall.query_expansions e WHERE e.role = ANY (roles));
    END LOOP;
    RETURN jsonb_build_object('query_embeddings', embeddings, 'query_expansions', expansions);
END
$function$;
