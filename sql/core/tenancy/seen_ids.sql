-- Returns those of some ids that belong to rows of namespaces that the session's role sees, as pgrecall_engine.
--
-- A function that gets an id from a caller asks for it here first. In a primary key, the entries and pages that are read would
-- tell which ids exist: here an index is read that begins with the namespace, at the caller's namespaces only. The rows may
-- still be hidden from the caller, for example sensitive ones.
--
-- kind  memory, concept, merge (of concepts), curation
CREATE OR REPLACE FUNCTION _pgrecall.seen_ids(kind text, ids bigint[])
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    homes integer[];
BEGIN
    IF _pgrecall.sees_all() OR _pgrecall.is_embedder() THEN
        RETURN ids;
    END IF;
    homes := ARRAY(SELECT g.namespace_id FROM pgrecall.grants g WHERE g.role = ANY (_pgrecall.held_roles(pgrecall.session_role())));
    RETURN CASE kind
        -- Adding zero: the expression of the index.
        WHEN 'memory' THEN ARRAY(SELECT m.id FROM pgrecall.memories m WHERE m.namespace_id = ANY (homes) AND m.id + 0 = ANY (ids))
        -- By a comparison of rows: only an index that begins with the namespace serves it.
        WHEN 'concept' THEN ARRAY(
            SELECT found.id
            FROM unnest(homes) home (id)
            CROSS JOIN unnest(ids) given (id)
            CROSS JOIN LATERAL (
                SELECT c.id FROM pgrecall.concepts c
                WHERE (c.namespace_id, c.id) >= (home.id, given.id) AND (c.namespace_id, c.id) <= (home.id, given.id)
                ORDER BY c.namespace_id, c.id
                LIMIT 1
            ) found
        )
        WHEN 'merge' THEN ARRAY(SELECT g.id FROM pgrecall.concept_merges g WHERE g.namespace_id = ANY (homes) AND g.id + 0 = ANY (ids))
        WHEN 'curation' THEN ARRAY(SELECT u.id FROM pgrecall.curations u WHERE u.namespace_id = ANY (homes) AND u.id + 0 = ANY (ids))
    END;
END
$function$;

ALTER FUNCTION _pgrecall.seen_ids OWNER TO pgrecall_engine;
