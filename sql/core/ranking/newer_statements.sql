-- Finds the newer of near-identical statements. Returns its id, and the place and the score of the older one.
--
-- "My favourite colour is blue", and a year later "My favourite colour is green", score alike on any question about the colour:
-- chance would decide which of them an agent reads first. Two memories of one speaker are near-identical if each holds at least
-- half of the other's words, numbers left out, and at most three words, or a third, of its own. The newer one must also hold every
-- word of the question that the older one holds, at least one, and have nine tenths of its score: Marten's database is no newer answer
-- to a question about Marlin's. Nor may its origin be less trusted. Two memories with the same words say the same, and keep their order.
-- But if somebody moved from Porto to Ghent and back, the second "I live in Porto" is newer than Ghent, and so goes before both.
--
-- Of two of the same time, the one that was stored later is the newer. Only the best 20 are asked for. Sizes of unions say what
-- two sets of words share: |a and b| = |a| + |b| - |a or b|. Few memories are in a pair that passes the first test, so only these lose
-- their values in canonical notation, which repeat what another word says.
--
-- ids, scores  the list, best first
-- words        the question's words
CREATE OR REPLACE FUNCTION _pgrecall.newer_statements(ids bigint[], scores double precision[], words text[])
RETURNS TABLE (id bigint, place bigint, score double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    WITH RECURSIVE memory AS MATERIALIZED (
        SELECT u.id, u.score, u.place, COALESCE(m.occurred_at, m.created_at) AS happened_at, m.speaker, m.origin,
               strip(m.search_vector) AS words, length(m.search_vector) AS size
        FROM unnest(ids, scores) WITH ORDINALITY u (id, score, place)
        JOIN pgrecall.memories m ON m.id = u.id
    ), alike AS MATERIALIZED (
        SELECT newer.id, newer.place, older.id AS older_id
        FROM memory older
        JOIN memory newer ON newer.score >= 0.9 * older.score AND newer.score > 0
            AND (newer.happened_at, newer.id) > (older.happened_at, older.id) AND newer.speaker IS NOT DISTINCT FROM older.speaker
            AND newer.origin >= older.origin
        -- A time of day alone is up to four lexemes.
        WHERE 3 * (newer.size + older.size - length(older.words || newer.words)) >= greatest(newer.size, older.size) - 4
    ), stated AS MATERIALIZED (
        -- Once for each memory and not for each pair: twenty revisions of a long text are 190 pairs.
        SELECT m.id, w.words, length(w.words) AS size, f.words AS figureless, length(f.words) AS figureless_size,
               ARRAY(
                   SELECT q.word FROM unnest(newer_statements.words) q (word) INTERSECT SELECT unnest(tsvector_to_array(w.words))
               ) AS asked
        FROM memory m
        CROSS JOIN LATERAL (SELECT _pgrecall.without_values(m.words) AS words OFFSET 0) w
        CROSS JOIN LATERAL (SELECT _pgrecall.without_figures(w.words) AS words OFFSET 0) f
        WHERE m.id IN (SELECT a.id FROM alike a UNION ALL SELECT a.older_id FROM alike a)
    ), revised AS MATERIALIZED (
        SELECT a.id, a.place, a.older_id
        FROM alike a
        JOIN stated newer ON newer.id = a.id
        JOIN stated older ON older.id = a.older_id
        CROSS JOIN LATERAL (
            SELECT length(older.words || newer.words) AS either,
                   older.figureless_size + newer.figureless_size - length(older.figureless || newer.figureless) AS shared
            OFFSET 0
        ) pair
        WHERE older.asked <> '{}' AND newer.asked @> older.asked
          AND pair.either > least(older.size, newer.size)
          AND pair.either - least(older.size, newer.size) <= greatest(3, greatest(older.size, newer.size) / 3)
          AND 2 * pair.shared >= greatest(older.figureless_size, newer.figureless_size, 1)
    ), earlier AS (
        -- UNION keeps each pair once, so that many revisions of one statement take no longer than their pairs.
        SELECT r.id, r.place, r.older_id FROM revised r
        UNION
        SELECT e.id, e.place, r.older_id FROM earlier e JOIN revised r ON r.id = e.older_id
    )
    SELECT DISTINCT ON (e.id) e.id, o.place, o.score
    FROM earlier e
    JOIN memory o ON o.id = e.older_id AND o.place < e.place
    ORDER BY e.id, o.place;
END;
