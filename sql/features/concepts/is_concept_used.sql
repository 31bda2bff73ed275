-- Tells whether a memory mentions a concept or a relationship has it. Volatile: it must see what it waited for.
CREATE OR REPLACE FUNCTION _pgrecall.is_concept_used(concept_id bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
-- As in is_alias_used().
SET enable_bitmapscan = 'off'
SET enable_seqscan = 'off'
AS $function$
BEGIN
    RETURN EXISTS (SELECT FROM pgrecall.mentions m WHERE m.concept_id = is_concept_used.concept_id)
        OR EXISTS (SELECT FROM pgrecall.relationships r WHERE r.source_id = is_concept_used.concept_id)
        OR EXISTS (SELECT FROM pgrecall.relationships r WHERE r.target_id = is_concept_used.concept_id);
END
$function$;
