-- Clears the query caches of every role that sees a namespace, and of dropped roles. Returns the row counts by table: of all roles
-- for who sees everything, else of the session's role.
--
-- Cached queries are hashes with vectors, or a language model's terms, so nobody can tell which ones quote an erased
-- memory. Caches of roles that do not see the namespace stay.
CREATE OR REPLACE FUNCTION _pgrecall.clear_query_caches(namespace_id integer)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    roles oid[];
    counted oid[];
    embeddings bigint;
    expansions bigint;
BEGIN
    SELECT array_agg(a.role) INTO roles
    FROM (SELECT q.role::oid FROM pgrecall.query_embeddings q UNION SELECT e.role::oid FROM pgrecall.query_expansions e) a (role)
    LEFT JOIN pg_roles r ON r.oid = a.role
    WHERE CASE WHEN r.oid IS NULL THEN true ELSE _pgrecall.sees_namespace(a.role::regrole, clear_query_caches.namespace_id, false) END;
    -- How many another role has says that it asks something.
    counted := CASE WHEN _pgrecall.sees_all() THEN roles ELSE ARRAY[pgrecall.session_role()::oid] END;
    WITH gone AS (DELETE FROM pgrecall.query_embeddings q WHERE q.role = ANY (roles) RETURNING q.role)
    SELECT count(*) INTO embeddings FROM gone g WHERE g.role = ANY (counted);
    WITH gone AS (DELETE FROM pgrecall.query_expansions e WHERE e.role = ANY (roles) RETURNING e.role)
    SELECT count(*) INTO expansions FROM gone g WHERE g.role = ANY (counted);
    RETURN jsonb_build_object('query_embeddings', embeddings, 'query_expansions', expansions);
END
$function$;
