-- The text-search configuration in which a namespace's queries are read; 'simple' where there is no namespace.
CREATE OR REPLACE FUNCTION pgrecall.query_language(namespace text)
RETURNS regconfig
LANGUAGE sql STABLE PARALLEL SAFE
RETURN COALESCE(
    (SELECT n.language::regconfig FROM pgrecall.namespaces n WHERE n.name = pgrecall.namespace_name(namespace)),
    'pg_catalog.simple'::regconfig
);

COMMENT ON FUNCTION pgrecall.query_language IS 'The text-search configuration in which a namespace''s queries are read.';
