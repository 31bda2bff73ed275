-- The text-search configurations in which a namespace's queries are read: its own, then those its memories came in.
--
-- What no memory is written in any more stays in the list: it costs a query a few microseconds. 'simple' where there is
-- no namespace.
CREATE OR REPLACE FUNCTION pgrecall.query_languages(namespace text)
RETURNS regconfig[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN COALESCE(
    (
        SELECT ARRAY(
            SELECT l.name::regconfig
            FROM unnest(n.language || n.languages) WITH ORDINALITY l (name, place)
            GROUP BY l.name::regconfig
            ORDER BY min(l.place)
        )
        FROM pgrecall.namespaces n
        WHERE n.name = pgrecall.namespace_name(namespace)
    ),
    ARRAY['pg_catalog.simple'::regconfig]
);

COMMENT ON FUNCTION pgrecall.query_languages IS
    'The text-search configurations in which queries are read: the namespace''s own, then those its memories came in.';
