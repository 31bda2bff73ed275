-- Finds the concepts of the namespace that a query names, by their longest aliases: looks up its runs of one to four words.
--
-- A shorter name inside a longer match is dropped: "new york marathon" does not match "york". Only the first 64 words
-- are used.
CREATE OR REPLACE FUNCTION _pgrecall.query_concepts(namespace_id integer, query text)
RETURNS TABLE (concept_id bigint)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 5
BEGIN ATOMIC
    WITH words AS MATERIALIZED (
        SELECT (string_to_array(pgrecall.normalize_name(query_concepts.query), ' '))[:64] AS list
    ), phrases AS MATERIALIZED (
        -- Computed before the lookup: under row-level security an index ignores expressions that are not leakproof.
        SELECT array_to_string(words.list[first.word : first.word + size.words - 1], ' ') AS alias,
               first.word AS starts, first.word + size.words - 1 AS ends
        FROM words
        CROSS JOIN generate_series(1, cardinality(words.list)) AS first (word)
        CROSS JOIN generate_series(1, 4) AS size (words)
        WHERE first.word + size.words - 1 <= cardinality(words.list)
    ), named AS MATERIALIZED (
        SELECT a.concept_id, p.starts, p.ends
        FROM phrases p
        CROSS JOIN LATERAL (
            -- LIMIT keeps each lookup an index scan, whatever row count the planner estimates for generate_series.
            SELECT c.concept_id FROM pgrecall.concept_aliases c
            WHERE c.namespace_id = query_concepts.namespace_id AND c.alias = p.alias
            LIMIT 1
        ) a
    )
    SELECT DISTINCT n.concept_id
    FROM named n
    WHERE NOT EXISTS (
        SELECT FROM named wider
        WHERE wider.starts <= n.starts AND wider.ends >= n.ends AND wider.ends - wider.starts > n.ends - n.starts
    );
END;
