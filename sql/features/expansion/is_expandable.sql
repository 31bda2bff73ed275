-- Tells whether a query is expandable: it has words, is not a document, and does not ask for an exact match.
--
-- A quotation, an identifier, a version or a path asks for an exact match (is_exact_query).
CREATE OR REPLACE FUNCTION pgrecall.is_expandable(query text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN COALESCE(length(query) <= 1000 AND query ~ '[[:alnum:]]' AND NOT pgrecall.is_exact_query(query), false);

GRANT EXECUTE ON FUNCTION pgrecall.is_expandable TO pgrecall_reader;
