-- Measures the background again in every namespace where changed memories are, or could be, among the sampled texts.
--
-- A namespace with few memories is measured at each call. In a large one a new text is seldom among the 400 sampled: the cost
-- of a million is that of some three thousand measurements.
--
-- It runs as pgrecall_engine: the background is nobody's row, and embedders have no privilege on it.
--
-- memory_ids  the memories whose embeddings were stored, or that were forgotten, superseded or restored
CREATE OR REPLACE FUNCTION _pgrecall.update_backgrounds(generation integer, memory_ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
SET lock_timeout = '100ms'
AS $function$
DECLARE
    stored record;
BEGIN
    -- In the order of namespaces, so that two batches cannot wait for each other.
    FOR stored IN
        SELECT m.namespace_id
        FROM pgrecall.memories m
        LEFT JOIN pgrecall.embedding_backgrounds b
            ON b.namespace_id = m.namespace_id AND b.generation_id = update_backgrounds.generation
        WHERE m.id = ANY (memory_ids) AND (b.last_key IS NULL OR substring(m.content_hash FROM 1 FOR 4) <= b.last_key)
        GROUP BY m.namespace_id
        ORDER BY m.namespace_id
    LOOP
        BEGIN
            PERFORM _pgrecall.refresh_background(stored.namespace_id, generation);
        EXCEPTION
            -- A writer that embeds its own memories is still at it. The next batch counts more.
            WHEN lock_not_available THEN
                NULL;
        END;
    END LOOP;
END
$function$;

ALTER FUNCTION _pgrecall.update_backgrounds OWNER TO pgrecall_engine;
