-- Finds secrets in the texts of a memory: content, title, tags, expanded_keywords, category, source, speaker, metadata. Returns the
-- fields without them, as one object, and the kinds found; NULL kinds if there is none.
--
-- What is stored (scan_for_secrets) and what is there already (scan_memory) are read by this function alone. The ids that a caller
-- gives, session and external_id, it does not read.
CREATE OR REPLACE FUNCTION _pgrecall.find_secrets(
    content text, title text, category text, source text, speaker text, tags text[], expanded_keywords text[], metadata jsonb,
    OUT clean jsonb, OUT kinds text[]
)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    texts jsonb;
BEGIN
    -- A space between them, so that a run of characters does not go on in the next.
    IF NOT _pgrecall.may_hold_secret(_pgrecall.visible_text(concat_ws(
        ' ', content, title, category, source, speaker, array_to_string(tags, ' '),
        array_to_string(expanded_keywords, ' '), CASE WHEN metadata <> '{}' THEN metadata::text END
    ))) THEN
        RETURN;
    END IF;
    texts := jsonb_strip_nulls(jsonb_build_object(
        'content', content, 'title', title, 'category', category, 'source', source, 'speaker', speaker
    ));
    SELECT jsonb_object_agg(f.field, f.clean), array_agg(DISTINCT k.kind ORDER BY k.kind) FILTER (WHERE k.kind IS NOT NULL)
    INTO clean, kinds
    FROM (
        SELECT e.key AS field, to_jsonb(t.clean) AS clean, t.kinds
        FROM jsonb_each_text(texts) e CROSS JOIN LATERAL _pgrecall.redact_text(e.value) t
        UNION ALL
        SELECT e.key, t.clean, t.kinds
        FROM (VALUES ('tags', to_jsonb(tags)), ('expanded_keywords', to_jsonb(expanded_keywords)), ('metadata', metadata)
        ) e (key, value)
        CROSS JOIN LATERAL _pgrecall.redact_json(e.value) t
    ) f
    LEFT JOIN LATERAL unnest(f.kinds) k (kind) ON true;
END
$function$;
