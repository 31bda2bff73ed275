-- Replaces each secret in a text by a marker such as [redacted: jwt]. Returns the text without secrets and the kinds found; NULL
-- kinds, and the text as it is, if there is none.
--
-- Characters of no width hide no token: the text is read without them, and if it has a secret, returned without them. A marker
-- is never a secret, so a second call finds nothing.
CREATE OR REPLACE FUNCTION _pgrecall.redact_text(content text, OUT clean text, OUT kinds text[])
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    seen text := _pgrecall.visible_text(content);
    plain text;
    rule record;
BEGIN
    clean := content;
    IF _pgrecall.may_hold_secret(seen) IS NOT TRUE THEN
        RETURN;
    END IF;
    plain := lower(seen COLLATE "C");
    FOR rule IN
        SELECT r.kind, r.pattern FROM _pgrecall.secret_rules() r
        WHERE EXISTS (SELECT FROM unnest(r.hints) h (hint) WHERE strpos(plain, h.hint) > 0)
    LOOP
        plain := regexp_replace(seen, rule.pattern, '\1[redacted: ' || rule.kind || ']', 'g');
        IF plain <> seen THEN
            kinds := CASE WHEN rule.kind = ANY (kinds) THEN kinds ELSE kinds || rule.kind END;
            seen := plain;
            clean := plain;
        END IF;
    END LOOP;
END
$function$;
