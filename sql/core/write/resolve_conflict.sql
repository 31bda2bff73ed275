-- Resolves a conflict with an existing external_id: error, keep or update. Returns the id of the existing memory.
--
-- update brings a forgotten memory back, and one that is superseded if its text changes.
--
-- Errors  23505 on_conflict is 'error', and the text differs, the stored memory is forgotten, or only the new one is
-- sensitive
CREATE OR REPLACE FUNCTION _pgrecall.resolve_conflict(
    namespace_id integer, fields jsonb, on_conflict text, subject text
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    stored pgrecall.memories;
BEGIN
    SELECT m.* INTO STRICT stored FROM pgrecall.memories m
    WHERE m.namespace_id = resolve_conflict.namespace_id AND m.external_id = fields ->> 'external_id';

    IF on_conflict = 'update' THEN
        PERFORM _pgrecall.change_memory(stored.id, jsonb_strip_nulls(fields - 'metadata') || jsonb_build_object(
            'metadata', COALESCE(NULLIF(fields -> 'metadata', 'null'), stored.metadata)
        ), true);
        -- The memory was superseded for what it said before.
        UPDATE pgrecall.memories m
        SET superseded_by = NULL, superseded_at = NULL, updated_at = now(),
            valid_to = CASE WHEN m.valid_to > now() OR fields ->> 'valid_to' IS NOT NULL THEN m.valid_to END
        WHERE m.id = stored.id AND m.superseded_by IS NOT NULL AND m.content <> stored.content;
    ELSIF on_conflict = 'error' AND stored.deleted_at IS NOT NULL THEN
        RAISE EXCEPTION '%: external_id belongs to a forgotten memory, %', subject, stored.id
            USING ERRCODE = 'unique_violation',
                  HINT = 'on_conflict => ''update'' brings it back with this text, ''keep'' leaves it forgotten.';
    ELSIF on_conflict = 'error'
          AND (stored.content, stored.title) IS DISTINCT FROM (fields ->> 'content', NULLIF(fields ->> 'title', ''))
          -- The same text, stored without its secrets.
          AND (stored.content, stored.title) IS DISTINCT FROM ((_pgrecall.redact_text(fields ->> 'content')).clean,
                                                               (_pgrecall.redact_text(NULLIF(fields ->> 'title', ''))).clean) THEN
        RAISE EXCEPTION '%: external_id belongs to memory %, whose text differs', subject, stored.id
            USING ERRCODE = 'unique_violation',
                  HINT = 'on_conflict => ''update'' changes that memory, ''keep'' leaves it as it is.';
    ELSIF on_conflict = 'error' AND fields -> 'is_sensitive' = 'true' AND NOT stored.is_sensitive THEN
        RAISE EXCEPTION '%: external_id belongs to memory %, which is not sensitive', subject, stored.id
            USING ERRCODE = 'unique_violation',
                  HINT = 'on_conflict => ''update'' makes it so, ''keep'' leaves it as it is.';
    END IF;
    RETURN stored.id;
END
$function$;
