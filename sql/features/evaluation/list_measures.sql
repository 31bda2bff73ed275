-- Returns the measures of one ranked list: hits, nDCG@10, reciprocal rank.
--
-- hits        relevant memories among the first k
-- ndcg_at_10  gain of the first 10 places, discounted by log2(place + 1), as a share of the best possible (Järvelin and
--             Kekäläinen: Cumulated gain-based evaluation of IR techniques, 2002)
-- reciprocal  1 / place of the first relevant memory; 0 beyond place 20
--
-- ids  the list, best first
CREATE OR REPLACE FUNCTION _pgrecall.list_measures(ids bigint[], relevant bigint[], k integer)
RETURNS TABLE (hits integer, ndcg_at_10 double precision, reciprocal double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    -- trec_eval's cut-offs, and those of benchmarks/metrics.py.
    SELECT count(*) FILTER (WHERE p.place <= list_measures.k)::integer,
           COALESCE(sum(ln(2) / ln(p.place + 1)) FILTER (WHERE p.place <= 10), 0) / (
               SELECT sum(ln(2) / ln(best.place + 1))
               FROM generate_series(1, least(cardinality(list_measures.relevant), 10)) AS best (place)
           ),
           COALESCE(1.0::double precision / min(p.place) FILTER (WHERE p.place <= 20), 0)
    FROM unnest(list_measures.ids) WITH ORDINALITY AS p (id, place)
    WHERE p.id = ANY (list_measures.relevant);
END;
