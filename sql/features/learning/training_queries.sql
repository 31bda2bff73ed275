-- Returns the judged queries to learn from, at most 300, newest first, each with the half it belongs to.
--
-- A role counts with as many queries as the median role has, but always with up to 50. Where the others gave only a few, one
-- client can outweigh them. Queries that judge() stored are of no role, and not limited. While a model is active, queries
-- without its vector are left out: without a dense leg they would teach to ignore it. The same words are in the same half, so
-- that neither half knows the other's answers.
--
-- since  only queries judged after that
CREATE OR REPLACE FUNCTION _pgrecall.training_queries(namespace_id integer, since timestamptz DEFAULT '-infinity')
RETURNS TABLE (query_id text, half integer)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 100
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    most CONSTANT integer := 300;
    -- A role may always give that many.
    fair CONSTANT integer := 50;
    home CONSTANT integer := training_queries.namespace_id;
    model_id CONSTANT integer := (SELECT g.model_id FROM pgrecall.generations g WHERE g.state = 'active');
BEGIN
    RETURN QUERY
        WITH usable AS MATERIALIZED (
            SELECT q.query_id, q.query, q.judged_by, q.judged_at,
                   row_number() OVER (PARTITION BY q.judged_by ORDER BY q.judged_at DESC, q.query_id) AS place
            FROM _pgrecall.answerable_queries(home, model_id) q
            WHERE q.judged_at > since AND (model_id IS NULL OR q.query_vec IS NOT NULL)
        ), share AS (
            SELECT greatest(fair, percentile_disc(0.5) WITHIN GROUP (ORDER BY r.queries)) AS queries
            FROM (SELECT count(*) AS queries FROM usable u WHERE u.judged_by <> '' GROUP BY u.judged_by) r
        ), chosen AS (
            SELECT u.query_id, u.query
            FROM usable u CROSS JOIN share s
            WHERE u.judged_by = '' OR u.place <= s.queries
            ORDER BY u.judged_at DESC, u.query_id
            LIMIT most
        )
        SELECT c.query_id, (dense_rank() OVER (ORDER BY md5(c.query), c.query) % 2)::integer FROM chosen c;
END
$function$;
