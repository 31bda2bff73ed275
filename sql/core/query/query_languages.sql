-- Returns the text-search configurations for a namespace's queries: its own language, then those of its memories.
--
-- A language stays in the list after its last memory is gone: it costs a query a few microseconds. Returns simple if
-- the namespace does not exist.
CREATE OR REPLACE FUNCTION _pgrecall.query_languages(namespace_id integer)
RETURNS regconfig[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    own text;
    others text[];
BEGIN
    SELECT n.language, array_remove(n.languages, n.language) INTO own, others
    FROM pgrecall.namespaces n
    WHERE n.id = query_languages.namespace_id;
    IF own IS NULL THEN
        RETURN ARRAY['pg_catalog.simple'::regconfig];
    ELSIF others = '{}' THEN
        RETURN ARRAY[_pgrecall.stored_language(own)];
    END IF;
    RETURN ARRAY(
        SELECT _pgrecall.stored_language(l.name)
        FROM unnest(own || others) WITH ORDINALITY l (name, place)
        GROUP BY 1
        ORDER BY min(l.place)
    );
END
$function$;
