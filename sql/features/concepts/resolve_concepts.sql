-- Compares new and changed concepts with their neighbours and merges those that mean the same.
--
-- Returns the number of concepts compared; call it until it returns 0. The concept with more mentions stays. Only one
-- caller runs at a time; others get 0. If writers hold a namespace's aliases for more than half a second, its concepts
-- wait for the next call: background work gives way.
--
-- batch  maximum number of concepts
CREATE OR REPLACE FUNCTION pgrecall.resolve_concepts(batch integer DEFAULT 100)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET enable_seqscan = 'off'
SET lock_timeout = '500ms'
AS $function$
DECLARE
    home record;
    pair record;
    chosen bigint[];
    looked_at integer := 0;
BEGIN
    PERFORM FROM pgrecall.locks l WHERE l.home = 0 AND l.name = 'resolve_concepts' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    FOR home IN
        SELECT c.namespace_id, array_agg(c.id ORDER BY c.id) AS ids
        FROM (
            SELECT c.namespace_id, c.id FROM pgrecall.concepts c WHERE c.resolved_at IS NULL ORDER BY c.id LIMIT batch
        ) c
        GROUP BY c.namespace_id
        ORDER BY c.namespace_id
    LOOP
        BEGIN
            FOR pair IN
                SELECT own.id, a.alike_id, a.method, a.similarity
                FROM unnest(home.ids) own (id)
                CROSS JOIN LATERAL _pgrecall.similar_concepts(own.id) a
            LOOP
                PERFORM FROM pgrecall.locks l WHERE l.home = home.namespace_id AND l.name = 'names' FOR UPDATE;
                PERFORM _pgrecall.merge_alike(pair.id, pair.alike_id, pair.method, pair.similarity);
            END LOOP;
        EXCEPTION
            WHEN lock_not_available THEN
                CONTINUE;
        END;
        chosen := ARRAY(SELECT c.id FROM pgrecall.concepts c WHERE c.id = ANY (home.ids) ORDER BY c.id FOR NO KEY UPDATE SKIP LOCKED);
        UPDATE pgrecall.concepts c SET resolved_at = now() WHERE c.id = ANY (chosen);
        looked_at := looked_at + cardinality(home.ids);
    END LOOP;
    RETURN looked_at;
END
$function$;

COMMENT ON FUNCTION pgrecall.resolve_concepts IS
    'Compares new and changed concepts with their neighbours and merges those that mean the same.';

ALTER FUNCTION pgrecall.resolve_concepts OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.resolve_concepts TO pgrecall_embedder;
