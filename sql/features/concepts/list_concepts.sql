-- Lists concepts of a namespace with the number of memories that mention each.
--
-- Counting mentions is the expensive part, so without `name_contains` only the newest 1,000 concepts are counted.
--
-- namespace      NULL: the setting pgrecall.namespace, then 'default'
-- name_contains  substring of the name, case-insensitive; shortest names first. NULL: most mentioned first
-- k              maximum number of rows
CREATE OR REPLACE FUNCTION pgrecall.list_concepts(
    namespace text DEFAULT NULL, name_contains text DEFAULT NULL, k integer DEFAULT 50
)
RETURNS TABLE (id bigint, name text, type text, mentions bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 50
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    home CONSTANT integer := pgrecall.namespace_id(list_concepts.namespace);
BEGIN
    IF list_concepts.name_contains IS NULL THEN
        RETURN QUERY
            SELECT c.id, c.name, c.type, m.mentions
            FROM (
                SELECT n.id, n.name, n.type FROM pgrecall.concepts n WHERE n.namespace_id = home ORDER BY n.id DESC LIMIT 1000
            ) c
            CROSS JOIN LATERAL (
                SELECT count(DISTINCT x.memory_id) AS mentions FROM pgrecall.mentions x WHERE x.concept_id = c.id
            ) m
            ORDER BY m.mentions DESC, c.id
            LIMIT list_concepts.k;
    ELSE
        RETURN QUERY
            SELECT c.id, c.name, c.type, m.mentions
            FROM (
                SELECT n.id, n.name, n.type FROM pgrecall.concepts n
                WHERE n.namespace_id = home AND strpos(lower(n.name), lower(list_concepts.name_contains)) > 0
                ORDER BY length(n.name), n.id
                LIMIT list_concepts.k
            ) c
            CROSS JOIN LATERAL (
                SELECT count(DISTINCT x.memory_id) AS mentions FROM pgrecall.mentions x WHERE x.concept_id = c.id
            ) m
            ORDER BY length(c.name), c.id;
    END IF;
END
$function$;

ALTER FUNCTION pgrecall.list_concepts OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.list_concepts TO pgrecall_reader;
