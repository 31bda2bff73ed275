-- Triggers on memories: look for secrets in the texts of a memory before it is stored, and do what the policy of its namespace
-- says.
--
-- Every way to a memory ends here, so no client can leave it out. It goes before memories_10_derive, which derives from the texts:
-- content, title, tags, expanded_keywords, category, source, speaker and metadata. The ids that a caller gives, session and
-- external_id, it does not read. An update that changes none of these fields is not scanned: an old memory keeps its text until
-- somebody changes it. The kinds found stay with the memory, as its history keeps the earlier text.
--
-- Errors  22023 the policy is refuse, and there is a secret;  54000 a marker makes a field too long
CREATE OR REPLACE FUNCTION _pgrecall.scan_for_secrets()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
DECLARE
    texts jsonb;
    policy text;
    clean jsonb;
    found text[];
BEGIN
    IF NOT _pgrecall.may_hold_secret(_pgrecall.visible_text(concat_ws(
        E'\n', NEW.content, NEW.title, NEW.category, NEW.source, NEW.speaker, array_to_string(NEW.tags, E'\n'),
        array_to_string(NEW.expanded_keywords, E'\n'), CASE WHEN NEW.metadata <> '{}' THEN NEW.metadata::text END
    ))) THEN
        RETURN NEW;
    END IF;
    texts := jsonb_strip_nulls(jsonb_build_object(
        'content', NEW.content, 'title', NEW.title, 'category', NEW.category, 'source', NEW.source, 'speaker', NEW.speaker
    ));
    SELECT jsonb_object_agg(f.field, f.clean), array_agg(k.kind) FILTER (WHERE k.kind IS NOT NULL) INTO clean, found
    FROM (
        SELECT e.key AS field, to_jsonb(t.clean) AS clean, t.kinds
        FROM jsonb_each_text(texts) e CROSS JOIN LATERAL _pgrecall.redact_text(e.value) t
        UNION ALL
        SELECT e.key, t.clean, t.kinds
        FROM (VALUES ('tags', to_jsonb(NEW.tags)), ('expanded_keywords', to_jsonb(NEW.expanded_keywords)), ('metadata', NEW.metadata)
        ) e (key, value)
        CROSS JOIN LATERAL _pgrecall.redact_json(e.value) t
    ) f
    LEFT JOIN LATERAL unnest(f.kinds) k (kind) ON true;
    IF found IS NULL THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' THEN
        NEW.secrets := OLD.secrets;
    END IF;
    NEW.secrets := ARRAY(SELECT DISTINCT s.kind FROM unnest(array_cat(NEW.secrets, found)) s (kind) ORDER BY s.kind);
    policy := _pgrecall.secrets_policy(NEW.namespace_id, NEW.external_id);
    IF policy = 'refuse' THEN
        -- Neither the text nor the memory it is for: a client that logs errors logs no secret.
        RAISE EXCEPTION 'the memory holds what looks like a secret: %',
            (SELECT string_agg(DISTINCT f.kind, ', ' ORDER BY f.kind) FROM unnest(found) f (kind))
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out of the text: this namespace refuses secrets.';
    ELSIF policy = 'sensitive' THEN
        NEW.is_sensitive := true;
    ELSIF policy = 'redact' THEN
        -- Within the limits of _pgrecall.check_memory(), as the table's constraints would print the row.
        IF octet_length(clean ->> 'content') > 262144 OR octet_length(clean ->> 'title') > 4096
           OR octet_length((clean -> 'metadata')::text) > 262144
           OR greatest(octet_length(clean ->> 'category'), octet_length(clean ->> 'source'), octet_length(clean ->> 'speaker')) > 1024
           OR greatest(octet_length((clean -> 'tags')::text), octet_length((clean -> 'expanded_keywords')::text)) > 12288 THEN
            RAISE EXCEPTION 'a field is too long with markers in place of its secrets'
                USING ERRCODE = 'program_limit_exceeded', HINT = 'Leave the secrets out, or split the text into several memories.';
        END IF;
        NEW := jsonb_populate_record(NEW, clean);
    END IF;
    RETURN NEW;
END
$function$;

CREATE OR REPLACE TRIGGER memories_05_secrets_insert
    BEFORE INSERT ON pgrecall.memories
    FOR EACH ROW EXECUTE FUNCTION _pgrecall.scan_for_secrets();

CREATE OR REPLACE TRIGGER memories_05_secrets_update
    BEFORE UPDATE OF content, title, category, tags, expanded_keywords, metadata, source, speaker, is_sensitive ON pgrecall.memories
    FOR EACH ROW
    WHEN ((OLD.content, OLD.title, OLD.category, OLD.tags, OLD.expanded_keywords, OLD.metadata, OLD.source, OLD.speaker)
              IS DISTINCT FROM (NEW.content, NEW.title, NEW.category, NEW.tags, NEW.expanded_keywords, NEW.metadata, NEW.source,
                                 NEW.speaker)
          OR OLD.is_sensitive AND NOT NEW.is_sensitive)
    EXECUTE FUNCTION _pgrecall.scan_for_secrets();
