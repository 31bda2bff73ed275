-- Measures the background again in every namespace whose embeddings have doubled since, after a batch was stored.
--
-- It runs as pgrecall_engine: the background is nobody's row, and embedders have no privilege on it.
--
-- memory_ids  the memories whose embeddings were stored
CREATE OR REPLACE FUNCTION _pgrecall.update_backgrounds(generation integer, memory_ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET lock_timeout = '100ms'
AS $function$
DECLARE
    stored record;
    is_due boolean;
BEGIN
    -- In the order of namespaces, so that two batches cannot wait for each other.
    FOR stored IN
        SELECT m.namespace_id, count(*) AS number
        FROM pgrecall.memories m WHERE m.id = ANY (memory_ids)
        GROUP BY m.namespace_id ORDER BY m.namespace_id
    LOOP
        BEGIN
            UPDATE pgrecall.embedding_backgrounds b SET added = b.added + stored.number
            WHERE b.namespace_id = stored.namespace_id AND b.generation_id = generation
            RETURNING b.added >= b.sampled_from INTO is_due;
            IF is_due IS DISTINCT FROM false THEN
                PERFORM _pgrecall.refresh_background(stored.namespace_id, generation);
            END IF;
        EXCEPTION
            -- A writer that embeds its own memories is still at it. The next batch counts more.
            WHEN lock_not_available THEN
                NULL;
        END;
    END LOOP;
END
$function$;

COMMENT ON FUNCTION _pgrecall.update_backgrounds IS
    'Measures the background again in every namespace whose embeddings have doubled since, after a batch was stored.';

ALTER FUNCTION _pgrecall.update_backgrounds OWNER TO pgrecall_engine;
