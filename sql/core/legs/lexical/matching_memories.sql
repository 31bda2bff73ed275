-- Returns the memories of a namespace that may match a tsquery, from the postings: those that do, and recently changed
-- ones. The caller compares their search_vector.
--
-- A GIN index on search_vector would hold the words of all namespaces: the entries and pages that a search reads there tell
-- which words others use. The postings begin with the namespace. The caller compares the search_vector of what is returned.
-- A prefix stands for all terms of the namespace that begin with it. A word that a memory holds only in fields of weight 0 has
-- no posting.
--
-- What the query excludes, and the order of words in a phrase, are left to the caller.
--
-- query  with at least one word that is not negated
CREATE OR REPLACE FUNCTION _pgrecall.matching_memories(namespace_id integer, query tsquery)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    -- PostgreSQL writes every lexeme in quotes.
    asked CONSTANT tsquery := (
        SELECT string_agg(
                   CASE WHEN starts_with(t.parts[1], '''') THEN t.parts[1] ELSE regexp_replace(t.parts[1], '<(-|[0-9]+)>', '&', 'g') END,
                   '' ORDER BY t.place
               )::tsquery
        FROM regexp_matches(querytree(query), '''(?:[^'']|'''')*''|[^'']+', 'g') WITH ORDINALITY AS t (parts, place)
    );
    terms text[];
BEGIN
    SELECT array_agg(DISTINCT t.term) INTO terms
    FROM (
        SELECT replace(replace(w.parts[1], '''''', ''''), '\\', '\') AS word, w.parts[2] LIKE '%*%' AS is_prefix
        FROM regexp_matches(asked::text, '''((?:[^'']|'''')*)''(:[*A-D]*)?', 'g') AS w (parts)
    ) w
    CROSS JOIN LATERAL (
        SELECT w.word WHERE w.is_prefix IS NOT TRUE
        UNION ALL
        SELECT s.term
        FROM pgrecall.term_stats s
        WHERE w.is_prefix AND s.namespace_id = matching_memories.namespace_id
          AND s.term >= w.word AND s.term < w.word || chr(1114111)
    ) t (term);
    RETURN ARRAY(
        SELECT p.memory_id
        FROM (
            SELECT unnest(b.memory_ids) AS memory_id, b.term
            FROM unnest(terms) w (term)
            JOIN pgrecall.postings b ON b.namespace_id = matching_memories.namespace_id AND b.term = w.term
        ) p
        GROUP BY p.memory_id
        HAVING array_to_tsvector(array_agg(p.term)) @@ asked
        UNION
        SELECT u.memory_id FROM pgrecall.pending_postings u WHERE u.namespace_id = matching_memories.namespace_id
    );
END
$function$;
