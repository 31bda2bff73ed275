-- Returns the query as a sparse vector: its words, each with its idf. NULL in a namespace without sparse terms.
--
-- A word that no memory has counts as maximally rare, as in max_bm25(): another word may have stood for it. Pronouns do not count.
--
-- terms         the query's lexemes
-- words, idfs   those that occur in the namespace, from query_term_weights();  max_terms  how many it returns at most
-- documents     number of memories in the namespace
CREATE OR REPLACE FUNCTION _pgrecall.sparse_query(
    namespace_id integer, terms text[], words text[], idfs double precision[], documents integer, max_terms integer
)
RETURNS pgvector.sparsevec
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    rarest CONSTANT double precision := ln(1 + (greatest(documents, 1) - 0.5) / 1.5)::double precision;
BEGIN
    -- A range in its order: by equality the planner may read the table, other tenants' rows, from its beginning.
    IF (
        SELECT s.namespace_id FROM pgrecall.sparse_terms s
        WHERE s.namespace_id BETWEEN sparse_query.namespace_id AND sparse_query.namespace_id
        ORDER BY s.namespace_id
        LIMIT 1
    ) IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT _pgrecall.sparse_vector(array_agg(w.term), array_agg(w.weight))
        FROM (
            SELECT w.word AS term, w.idf AS weight FROM unnest(words, idfs) w (word, idf)
            UNION ALL
            (
                -- Beyond the limit these may be the most frequent words, of which nothing is known.
                SELECT t.term, rarest FROM unnest(terms) WITH ORDINALITY t (term, place)
                WHERE t.term <> ALL (COALESCE(words, '{}'))
                ORDER BY t.place
                LIMIT greatest(max_terms - COALESCE(cardinality(words), 0), 0)
            )
        ) w
        WHERE w.term <> ALL (_pgrecall.pronoun_lexemes())
    );
END
$function$;
