-- Lists the memories that mention a concept: those about it first, then the newest.
--
-- k  maximum number of rows
CREATE OR REPLACE FUNCTION pgrecall.memories_of_concept(concept_id bigint, k integer DEFAULT 50)
RETURNS SETOF bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 50
SET search_path FROM CURRENT
AS $function$
BEGIN
    -- A memory that mentions it both in a tag and in its text appears twice, or more often: by each source and name.
    RETURN QUERY
        SELECT m.id
        FROM _pgrecall.concept_memories(_pgrecall.seen_id('concept', memories_of_concept.concept_id), 8 * least(k, 100000)) c
        CROSS JOIN LATERAL unnest(c.memory_ids) WITH ORDINALITY m (id, place)
        GROUP BY m.id
        ORDER BY min(m.place)
        LIMIT memories_of_concept.k;
END
$function$;

ALTER FUNCTION pgrecall.memories_of_concept OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.memories_of_concept TO pgrecall_reader;
