-- Measures recall() on a namespace's judged queries, with the settings in force: recall@k, nDCG@10 and MRR, by stratum and
-- overall, and how much of the exact dense list the HNSW index finds.
--
-- Returns one row per stratum and one, 'overall', for all queries: means of the columns that pgrecall.judged_recall()
-- defines. Every SET LOCAL of the caller applies, so a setting can be tried like this:
--
--   BEGIN;  SET LOCAL pgrecall.rrf_k = 10;  SELECT * FROM pgrecall.recall_eval();  ROLLBACK;
--
-- Reads only. A difference that depends on a few queries is not significant: judge more of them.
--
-- queries        number of queries that ran
-- dense_overlap  over those that have a vector; NULL if none has
--
-- Errors  22023 k outside 1..500, a setting out of range;  42704 no such namespace;  55000 vectors of another model
CREATE OR REPLACE FUNCTION pgrecall.recall_eval(namespace text DEFAULT NULL, k integer DEFAULT 10)
RETURNS TABLE (
    stratum text, queries integer, recall_at_k double precision, ndcg_at_10 double precision, mrr double precision,
    dense_overlap double precision
)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 5
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT CASE WHEN GROUPING(j.stratum) = 1 THEN 'overall' ELSE j.stratum END, count(j.query_id)::integer,
           avg(j.recall_at_k), avg(j.ndcg_at_10), avg(j.mrr), avg(j.dense_overlap)
    FROM pgrecall.judged_recall(recall_eval.namespace, recall_eval.k) j
    GROUP BY GROUPING SETS ((j.stratum), ())
    ORDER BY GROUPING(j.stratum), j.stratum;
END;

ALTER FUNCTION pgrecall.recall_eval OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.recall_eval TO pgrecall_reader;
