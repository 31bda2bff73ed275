-- Triggers on memories: look for secrets in the texts of a memory before it is stored, and do what the policy of its namespace
-- says.
--
-- Every way to a memory ends here, so no client can leave it out. It goes before memories_10_derive, which derives from the texts
-- (find_secrets). An update that changes none of them is not scanned: an old memory keeps its text until somebody changes it or calls
-- scan_secrets(). The kinds found stay with the memory, as its history keeps the earlier text.
--
-- Errors  22023 the policy is refuse, and there is a secret;  54000 a marker makes a field too long
CREATE OR REPLACE FUNCTION _pgrecall.scan_for_secrets()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
DECLARE
    policy text;
    clean jsonb;
    found text[];
BEGIN
    SELECT f.clean, f.kinds INTO clean, found
    FROM _pgrecall.find_secrets(
        NEW.content, NEW.title, NEW.category, NEW.source, NEW.speaker, NEW.tags, NEW.expanded_keywords, NEW.metadata
    ) f;
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
            array_to_string(found, ', ')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out of the text: this namespace refuses secrets.';
    ELSIF policy = 'sensitive' THEN
        NEW.is_sensitive := true;
    ELSIF policy = 'redact' THEN
        IF _pgrecall.exceeds_limits(clean) THEN
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
