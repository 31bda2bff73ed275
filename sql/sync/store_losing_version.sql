-- Stores the version of a memory that lost in a conflict: a memory of its own, superseded by the one that won.
--
-- memory  the one that won, as it is stored
-- fields  of the version that lost, where they differ from memory; is_sensitive if either was
-- key     external_id of the new memory: stored once, however often it is asked for
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

COMMENT ON FUNCTION _pgrecall.store_losing_version IS
    'Stores the version of a memory that lost in a conflict: a memory of its own, superseded by the one that won.';
