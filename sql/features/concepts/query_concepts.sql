-- Finds the concepts of the namespace that a query names, by their longest aliases: looks up its runs of one to four words.
--
-- In scripts without spaces, and in Korean, which appends particles to names, each character counts as a word: 东京 is found in
-- 我在东京做什么 by a run of up to sixteen.
--
-- A shorter name inside a longer match is dropped: "new york marathon" does not match "york". Only the first 64 words
-- are used.
CREATE OR REPLACE FUNCTION _pgrecall.query_concepts(namespace_id integer, query text)
RETURNS TABLE (concept_id bigint)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 5
BEGIN ATOMIC
    WITH asked AS MATERIALIZED (
        SELECT n.name, octet_length(n.name) > length(n.name) AND n.name ~ ('[' || _pgrecall.unspaced_class() || ']') AS is_unspaced
        FROM (SELECT pgrecall.normalize_name(query_concepts.query) AS name) n
    ), words AS MATERIALIZED (
        SELECT CASE WHEN a.is_unspaced THEN '' ELSE ' ' END AS glue, CASE WHEN a.is_unspaced THEN 16 ELSE 4 END AS longest,
               -- With characters for words, a space belongs to what follows it.
               CASE WHEN a.is_unspaced THEN ARRAY(
                        SELECT p.piece[1]
                        FROM regexp_matches(
                            a.name, '( ?(?:[' || _pgrecall.unspaced_class() || ']|[^ ' || _pgrecall.unspaced_class() || ']+))', 'g'
                        ) WITH ORDINALITY p (piece, place)
                        WHERE p.place <= 64
                        ORDER BY p.place
                    )
                    ELSE (string_to_array(a.name, ' '))[:64] END AS list
        FROM asked a
    ), phrases AS MATERIALIZED (
        -- Computed before the lookup: under row-level security an index ignores expressions that are not leakproof.
        SELECT ltrim(array_to_string(words.list[first.word : first.word + size.words - 1], words.glue)) AS alias,
               first.word AS starts, first.word + size.words - 1 AS ends
        FROM words
        CROSS JOIN generate_series(1, cardinality(words.list)) AS first (word)
        CROSS JOIN generate_series(1, words.longest) AS size (words)
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
