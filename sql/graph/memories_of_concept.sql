-- The memories that mention a concept: those about it first, then the newest.
--
-- k  how many at most
CREATE OR REPLACE FUNCTION pgrecall.memories_of_concept(concept_id bigint, k integer DEFAULT 50)
RETURNS SETOF bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 50
SET search_path FROM CURRENT
AS $function$
BEGIN
    -- One that mentions it by its tag and in its text comes twice.
    RETURN QUERY
        SELECT m.id
        FROM _pgrecall.concept_memories(memories_of_concept.concept_id, k - 1) c
        CROSS JOIN LATERAL unnest(c.memory_ids) WITH ORDINALITY m (id, place)
        GROUP BY m.id
        ORDER BY min(m.place);
END
$function$;

COMMENT ON FUNCTION pgrecall.memories_of_concept IS 'The memories that mention a concept: those about it first, then the newest.';

ALTER FUNCTION pgrecall.memories_of_concept OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.memories_of_concept TO pgrecall_reader;
