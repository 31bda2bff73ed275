-- Locks memories, one of which `successor` is to supersede, and waits for the turn of such a call. successor may be NULL.
--
-- A successor that is itself superseded could close a circle with other calls, of other memories: one such call at a time.
-- A call that waits for its turn holds none of the memories: the call before it may wait for one.
CREATE OR REPLACE FUNCTION _pgrecall.lock_with_successor(memory_ids bigint[], successor bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    is_its_turn boolean;
BEGIN
    -- Nothing can close a circle. The block below would cost a subtransaction.
    IF successor IS NULL THEN
        PERFORM FROM pgrecall.memories m WHERE m.id = ANY (memory_ids) ORDER BY m.id FOR NO KEY UPDATE;
        RETURN;
    END IF;
    LOOP
        PERFORM _pgrecall.serialize_imports(ARRAY[m.namespace_id])
        FROM pgrecall.memories m WHERE m.id = successor AND m.id = ANY (memory_ids) AND m.superseded_by IS NOT NULL;
        is_its_turn := FOUND;
        BEGIN
            -- In the order of ids, so that two crossing calls do not deadlock.
            PERFORM FROM pgrecall.memories m WHERE m.id = ANY (memory_ids) ORDER BY m.id FOR NO KEY UPDATE;
            EXIT WHEN is_its_turn OR NOT EXISTS (
                SELECT FROM pgrecall.memories m
                WHERE m.id = successor AND m.id = ANY (memory_ids) AND m.superseded_by IS NOT NULL
            );
            RAISE SQLSTATE 'PGR01';
        EXCEPTION
            WHEN SQLSTATE 'PGR01' THEN
                NULL;  -- superseded while this call waited for its row: the end of the block gives the rows back
        END;
    END LOOP;
END
$function$;
