-- Changes some fields of a memory. Returns whether anything changed.
--
-- A new text is not more trusted than the old one, nor than a new memory of unsaid origin, unless the fields say it: who changes the
-- text of what the user said does not speak as the user.
--
-- fields  checked options of remember(); an empty string clears a text, the time 'infinity' an end
-- revive  restore the memory if it is forgotten
--
-- Errors  22023, 54000 see _pgrecall.check_memory;  42704 no such language;  P0002 no such memory, or it is forgotten
CREATE OR REPLACE FUNCTION _pgrecall.change_memory(id bigint, fields jsonb, revive boolean DEFAULT false)
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    seen CONSTANT bigint := _pgrecall.seen_id('memory', change_memory.id);
    stored pgrecall.memories;
    old pgrecall.memory_fields;
    new pgrecall.memory_fields;
BEGIN
    PERFORM _pgrecall.check_memory(fields, 'memory ' || change_memory.id);
    PERFORM _pgrecall.check_language(fields ->> 'language');
    IF EXISTS (SELECT FROM pgrecall.note_evidence e WHERE e.memory_id = seen) THEN
        PERFORM _pgrecall.lock_with_notes(ARRAY[seen], fields ->> 'language');
    END IF;
    SELECT m.* INTO stored FROM pgrecall.memories m
    WHERE m.id = seen AND (m.deleted_at IS NULL OR revive)
    FOR NO KEY UPDATE;
    IF stored.id IS NULL THEN
        PERFORM _pgrecall.raise_unknown_memory(change_memory.id);
    END IF;

    old := ROW (stored.content, stored.title, stored.category, stored.tags, stored.expanded_keywords, stored.importance,
                stored.metadata, stored.source, stored.session, stored.speaker, stored."position", stored.language,
                stored.is_sensitive, stored.occurred_at, stored.created_at, stored.valid_from, stored.valid_to,
                stored.external_id, stored.expires_at, stored.origin);
    new := jsonb_populate_record(old, fields);
    new.title := NULLIF(new.title, '');
    new.category := NULLIF(new.category, '');
    new.source := NULLIF(new.source, '');
    new.session := NULLIF(new.session, '');
    new.speaker := NULLIF(new.speaker, '');
    new.valid_to := NULLIF(new.valid_to, 'infinity');
    new.expires_at := NULLIF(new.expires_at, 'infinity');
    new.origin := COALESCE(new.origin, old.origin);
    IF fields ->> 'origin' IS NULL AND (new.title, new.content) IS DISTINCT FROM (old.title, old.content) THEN
        new.origin := least(old.origin, _pgrecall.default_origin());
    END IF;
    IF revive AND NOT fields ? 'expires_at' AND old.expires_at <= now() THEN
        -- What a retention rule forgot gets its own expiry back. One that has passed would keep it hidden.
        SELECT (c.before ->> 'expires_at')::timestamptz INTO new.expires_at
        FROM pgrecall.memory_changes c
        WHERE c.memory_id = seen AND c.action IN ('forget', 'expire')
        ORDER BY c.changed_at DESC, c.id DESC
        LIMIT 1;
        new.expires_at := CASE WHEN new.expires_at > now() THEN new.expires_at END;
    END IF;
    IF new.valid_to < new.valid_from THEN
        RAISE EXCEPTION 'memory %: valid_to would be before valid_from', change_memory.id
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Change both.';
    ELSIF new IS NOT DISTINCT FROM old AND stored.deleted_at IS NULL THEN
        RETURN false;
    END IF;

    UPDATE pgrecall.memories m
    SET content = new.content, title = new.title, category = new.category, tags = new.tags,
        expanded_keywords = new.expanded_keywords, importance = new.importance, metadata = new.metadata,
        source = new.source, session = new.session, speaker = new.speaker, "position" = new."position",
        language = new.language, is_sensitive = new.is_sensitive, occurred_at = new.occurred_at,
        created_at = new.created_at, valid_from = new.valid_from, valid_to = new.valid_to,
        expires_at = new.expires_at, origin = new.origin, updated_at = now(), deleted_at = NULL
    WHERE m.id = change_memory.id;
    RETURN true;
END
$function$;
