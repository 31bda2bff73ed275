-- Keeps the expansion of a query for recalls of this role with expand = llm, and forgets what is too old or too much.
--
-- The caller's rights say in which languages the namespace's queries are read; store_expansion() does the rest.
--
-- terms     words or short phrases to look for beside the query's, five at the most, of 64 characters at the most
-- entities  names of things that it means, likewise: concepts of these names lead the graph leg
-- intent    one word for what the query wants; recall does not use it
--
-- Errors  22023 a query that is not expanded, a term that is none;  54000 too many, too long;  25006 on a standby
CREATE OR REPLACE FUNCTION pgrecall.keep_expansion(
    query text, terms text[], entities text[] DEFAULT '{}', intent text DEFAULT NULL, namespace text DEFAULT NULL
)
RETURNS void
LANGUAGE sql VOLATILE
RETURN pgrecall.store_expansion(
    query, pgrecall.expansion_language(pgrecall.query_languages(namespace), query), terms, entities, intent
);

COMMENT ON FUNCTION pgrecall.keep_expansion IS
    'Keeps the expansion of a query for recalls of this role with expand = llm; of the query only its hash.';
