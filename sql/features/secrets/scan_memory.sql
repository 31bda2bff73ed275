-- Does with the secrets of a stored memory what the policy of its namespace says, as if it were stored now; returns their kinds, NULL
-- if it holds none, and what is done.
--
-- redact takes them out of its history too, as nothing of them may stay. refuse cannot refuse what is there: the memory becomes
-- sensitive, and so does one that would be too long with markers. allow only notes the kinds. What is derived from a changed text
-- follows by the triggers of an update.
--
-- A message that an earlier version stored has a key that was made of its secret. It gets the key that is made without it: nobody can
-- try passwords against that, and the same message is not stored once more.
--
-- memory   locked by the caller, unless this is a dry run
-- dry_run  change nothing
CREATE OR REPLACE FUNCTION _pgrecall.scan_memory(
    memory pgrecall.memories, dry_run boolean, OUT kinds text[], OUT is_redacted boolean, OUT is_marked boolean
)
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    policy CONSTANT text := _pgrecall.secrets_policy(memory.namespace_id, memory.external_id);
    key text := memory.external_id;
    clean jsonb;
    found text[];
    noted text[];
    is_clean boolean;
BEGIN
    SELECT f.clean, f.kinds INTO clean, found
    FROM _pgrecall.find_secrets(
        memory.content, memory.title, memory.category, memory.source, memory.speaker, memory.tags, memory.expanded_keywords,
        memory.metadata
    ) f;
    kinds := found;
    IF policy = 'redact' THEN
        kinds := array_cat(kinds, _pgrecall.redact_history(memory.id, key, key, true));
    END IF;
    is_clean := policy = 'redact' AND found IS NOT NULL AND NOT _pgrecall.exceeds_limits(clean);
    is_redacted := is_clean OR policy = 'redact' AND kinds IS DISTINCT FROM found;
    is_marked := found IS NOT NULL AND policy <> 'allow' AND NOT is_clean AND NOT memory.is_sensitive;
    IF kinds IS NULL OR dry_run THEN
        RETURN;
    END IF;
    noted := ARRAY(SELECT DISTINCT s.kind FROM unnest(array_cat(memory.secrets, kinds)) s (kind) ORDER BY s.kind);
    IF is_clean THEN
        key := COALESCE((
            SELECT k.clean || substr(key, length(k.held) + 1)
            FROM (VALUES (_pgrecall.message_key(memory.session, memory.speaker, memory.content),
                          _pgrecall.message_key(memory.session, memory.speaker, clean ->> 'content')),
                         (_pgrecall.note_key(memory.session, memory.content), _pgrecall.note_key(memory.session, clean ->> 'content'))
            ) k (held, clean)
            WHERE starts_with(key, k.held)
        ), key);
        -- The same message may have been stored once more.
        IF key <> memory.external_id AND EXISTS (
            SELECT FROM pgrecall.memories m WHERE m.namespace_id = memory.namespace_id AND m.external_id = key
        ) THEN
            key := key || '#' || memory.id;
        END IF;
        UPDATE pgrecall.memories m
        SET content = r.content, title = r.title, category = r.category, source = r.source, speaker = r.speaker, tags = r.tags,
            expanded_keywords = r.expanded_keywords, metadata = r.metadata, external_id = key, secrets = noted, updated_at = now()
        FROM jsonb_populate_record(memory, clean) r
        WHERE m.id = memory.id;
    ELSIF is_marked THEN
        UPDATE pgrecall.memories m SET is_sensitive = true, secrets = noted, updated_at = now() WHERE m.id = memory.id;
    ELSIF noted IS DISTINCT FROM memory.secrets THEN
        UPDATE pgrecall.memories m SET secrets = noted WHERE m.id = memory.id;
    END IF;
    IF is_redacted THEN
        -- Last: the update has noted the text that it replaced.
        PERFORM _pgrecall.redact_history(memory.id, memory.external_id, key, false);
    END IF;
END
$function$;
