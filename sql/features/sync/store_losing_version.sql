-- Stores the losing version of a conflict as a separate memory, superseded by the winner.
--
-- memory  the winner, as stored
-- fields  fields of the losing version that differ from memory; is_sensitive if either version was
-- key     external_id of the new memory: repeated calls store it once
CREATE OR REPLACE FUNCTION _pgrecall.store_losing_version(memory pgrecall.memories, fields jsonb, key text, lost text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    kept bigint;
BEGIN
    kept := _pgrecall.copy_memory(memory, (fields - 'position') || jsonb_build_object(
        'external_id', key,
        'is_sensitive', memory.is_sensitive OR COALESCE((fields ->> 'is_sensitive')::boolean, false),
        'metadata', COALESCE(NULLIF(fields -> 'metadata', 'null'), '{}')
                    || jsonb_build_object('conflict', jsonb_build_object('with', memory.id, 'lost', lost))
    ));
    UPDATE pgrecall.memories m
    SET superseded_by = memory.id, superseded_at = now(), updated_at = now(),
        valid_to = greatest(m.valid_from, COALESCE(m.valid_to, now()))
    WHERE m.id = kept AND m.superseded_by IS NULL;
    RETURN kept;
END
$function$;
