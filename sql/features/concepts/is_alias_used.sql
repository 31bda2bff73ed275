-- Tells whether a memory mentions a concept by this name or a relationship was stated with it. Volatile: it must see what
-- it waited for.
--
-- In plpgsql for its cached plan: planning takes many times as long as the lookup.
CREATE OR REPLACE FUNCTION _pgrecall.is_alias_used(concept_id bigint, alias_id integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
-- The first row decides; a bitmap scan would read all mentions of the concept first.
SET enable_bitmapscan = 'off'
SET enable_seqscan = 'off'
AS $function$
BEGIN
    RETURN EXISTS (SELECT FROM pgrecall.mentions m
                   WHERE m.concept_id = is_alias_used.concept_id AND m.alias_id = is_alias_used.alias_id)
        OR EXISTS (SELECT FROM pgrecall.relationships r
                   WHERE r.source_id = is_alias_used.concept_id AND r.source_alias_id = is_alias_used.alias_id)
        OR EXISTS (SELECT FROM pgrecall.relationships r
                   WHERE r.target_id = is_alias_used.concept_id AND r.target_alias_id = is_alias_used.alias_id);
END
$function$;
