-- Locks the namespaces to which checked memories of a batch bring a new language, in the order of their ids.
--
-- note_languages() changes a namespace with each memory. A batch that locks names first would deadlock there with a writer of one new
-- memory, who changes the namespace before the names.
--
-- memories   as for insert_memories()
-- namespace  the default namespace
CREATE OR REPLACE FUNCTION _pgrecall.lock_languages(memories jsonb, namespace text)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    -- Computed before the lookup: under row-level security an index takes no expression that is not leakproof.
    PERFORM FROM pgrecall.namespaces n
    WHERE n.id IN (
        WITH stated AS MATERIALIZED (
            SELECT COALESCE(e.fields ->> 'namespace', lock_languages.namespace) AS namespace,
                   array_agg(DISTINCT e.fields ->> 'language') AS languages
            FROM jsonb_array_elements(memories) e (fields)
            GROUP BY 1
        )
        SELECT h.id
        FROM stated s
        CROSS JOIN LATERAL (SELECT h.id, h.language, h.languages FROM pgrecall.namespaces h WHERE h.name = s.namespace LIMIT 1) h
        WHERE NOT h.languages @> array_replace(s.languages, NULL, h.language)
    )
    ORDER BY n.id
    FOR NO KEY UPDATE;
END
$function$;
