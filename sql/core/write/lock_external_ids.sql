-- Locks the memories that checked memories of a batch will change, those with their external ids, in the order of ids. Returns them.
--
-- memories   as for insert_memories()
-- namespace  the default namespace
CREATE OR REPLACE FUNCTION _pgrecall.lock_external_ids(memories jsonb, namespace text)
RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    -- Computed before the lookups: under row-level security an index takes no expression that is not leakproof.
    RETURN (
        WITH stated AS MATERIALIZED (
            SELECT DISTINCT COALESCE(e.fields ->> 'namespace', lock_external_ids.namespace) AS namespace,
                   e.fields ->> 'external_id' AS external_id
            FROM jsonb_array_elements(memories) e (fields)
        ), locked AS (
            SELECT m.id
            FROM stated s
            CROSS JOIN LATERAL (SELECT n.id FROM pgrecall.namespaces n WHERE n.name = s.namespace LIMIT 1) n
            JOIN pgrecall.memories m ON m.namespace_id = n.id AND m.external_id = s.external_id
            ORDER BY m.id
            FOR NO KEY UPDATE OF m
        )
        SELECT COALESCE(array_agg(l.id), '{}') FROM locked l
    );
END
$function$;
