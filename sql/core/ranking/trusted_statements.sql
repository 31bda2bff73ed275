-- Finds the trusted memories that go before less trusted ones about the same. Returns each with the place and the score of the first
-- one that it precedes.
--
-- What came through a tool or from the web may have been written to be found: it repeats the question, and states something else than
-- the user did. A memory of another origin precedes it if it answers the question about as well. Of what the other one holds of the
-- question, by the rarity of the words, it holds six tenths; or four tenths, if the other one repeats half of its words; and it has
-- three tenths of the other one's score. One that only asks answers nothing. Where all memories are trusted, or none is, nothing
-- changes: what a tool returned is found first if nobody else said anything about it.
--
-- Only what the other one holds counts, so that nothing is won by stuffing it with more. Numbers are what a planted claim replaces, and
-- are not compared. Pronouns are no words of the question here,
-- because nearly everything that a user has said holds them. Only what is among the best 20 is preceded, by whatever is found.
--
-- ids, scores  the list, best first
-- words, idfs  the question's words, and how rare they are
CREATE OR REPLACE FUNCTION _pgrecall.trusted_statements(
    ids bigint[], scores double precision[], words text[], idfs double precision[]
)
RETURNS TABLE (id bigint, place bigint, score double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 1
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH question AS MATERIALIZED (
        SELECT w.word, w.idf, _pgrecall.match_any_term(ARRAY[w.word]) AS query
        FROM unnest(trusted_statements.words, trusted_statements.idfs) w (word, idf)
        WHERE w.word <> ALL (_pgrecall.pronoun_lexemes())
    ), memory AS MATERIALIZED (
        SELECT u.id, u.score, u.place, m.origin > 'tool' AS is_trusted,
               ARRAY(SELECT q.word FROM question q WHERE m.search_vector @@ q.query) AS held
        FROM unnest(ids, scores) WITH ORDINALITY u (id, score, place)
        JOIN pgrecall.memories m ON m.id = u.id
        WHERE u.score > 0
    ), rival AS MATERIALIZED (
        SELECT t.id, o.id AS other_id, o.place, o.score, h.share
        FROM memory t
        JOIN memory o ON o.place < t.place AND o.place <= 20 AND NOT o.is_trusted AND t.score >= 0.3 * o.score AND t.held && o.held
        CROSS JOIN LATERAL (
            SELECT sum(q.idf) FILTER (WHERE q.word = ANY (t.held)) / sum(q.idf) AS share
            FROM question q
            WHERE q.word = ANY (o.held)
        ) h
        WHERE t.is_trusted AND h.share >= 0.4
    )
    SELECT DISTINCT ON (r.id) r.id, r.place, r.score
    FROM rival r
    JOIN pgrecall.memories m ON m.id = r.id
    WHERE NOT _pgrecall.is_question(m.content)
      AND (r.share >= 0.6 OR (
          SELECT 2 * (length(w.own) + length(w.other) - length(w.own || w.other)) >= length(w.own)
          FROM pgrecall.memories o
          CROSS JOIN LATERAL (
              SELECT _pgrecall.without_numbers(m.search_vector) AS own, _pgrecall.without_numbers(o.search_vector) AS other OFFSET 0
          ) w
          WHERE o.id = r.other_id
      ))
    ORDER BY r.id, r.place;
END
$function$;
