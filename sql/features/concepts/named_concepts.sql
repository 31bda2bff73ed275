-- Returns the five rarest concepts that a query names.
--
-- hub_max_mentions  limit for counting their memories; concepts above it (hubs) come last
CREATE OR REPLACE FUNCTION _pgrecall.named_concepts(namespace_id integer, query text, hub_max_mentions integer)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT q.concept_id
        FROM _pgrecall.query_concepts(namespace_id, query) q
        CROSS JOIN LATERAL (
            SELECT count(*) AS df
            FROM (SELECT FROM pgrecall.mentions m WHERE m.concept_id = q.concept_id LIMIT hub_max_mentions + 1) counted
        ) c
        WHERE c.df > 0
        ORDER BY c.df, q.concept_id
        LIMIT 5
    );
END
$function$;
