-- The concepts that a query names and that say something: hubs, which many memories mention, are left out.
--
-- df_max  how many memories may mention a concept
CREATE OR REPLACE FUNCTION pgrecall.named_concepts(namespace_id integer, query text, df_max integer)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT q.concept_id
        FROM pgrecall.query_concepts(namespace_id, query) q
        WHERE (
            SELECT count(*)
            FROM (SELECT FROM pgrecall.mentions m WHERE m.concept_id = q.concept_id LIMIT df_max + 1) counted
        ) BETWEEN 1 AND df_max
        ORDER BY q.concept_id
    );
END
$function$;

COMMENT ON FUNCTION pgrecall.named_concepts IS 'The concepts that a query names, without hubs.';
