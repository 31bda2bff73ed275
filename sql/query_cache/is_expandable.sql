-- Whether a query may be expanded: it has words, is no document, and does not mean what it says to the letter.
--
-- A quotation, an identifier, a version or a path wants itself and nothing like it (is_exact_query).
CREATE OR REPLACE FUNCTION pgrecall.is_expandable(query text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN COALESCE(length(query) <= 1000 AND query ~ '[[:alnum:]]' AND NOT pgrecall.is_exact_query(query), false);

COMMENT ON FUNCTION pgrecall.is_expandable IS
    'Whether a query may be expanded: it has words, is no document, and does not mean what it says to the letter.';

GRANT EXECUTE ON FUNCTION pgrecall.is_expandable TO pgrecall_reader;
