-- Ends a namespace's learned settings if they answer the queries judged since then significantly worse than without them.
--
-- Returns whether it ended them. Needs 20 queries: with fewer, chance decides.
CREATE OR REPLACE FUNCTION _pgrecall.review_learning(namespace_id integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    fewest CONSTANT integer := 20;
    home CONSTANT integer := review_learning.namespace_id;
    base CONSTANT jsonb := _pgrecall.base_settings();
    learned record;
    query_ids text[];
    upper_end double precision;
BEGIN
    SELECT l.id, l.settings, l.learned_at INTO learned
    FROM pgrecall.learned_settings l WHERE l.namespace_id = home AND l.ended_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT array_agg(t.query_id) INTO query_ids FROM _pgrecall.training_queries(home, learned.learned_at) t;
    IF COALESCE(cardinality(query_ids), 0) < fewest THEN
        RETURN false;
    END IF;
    SELECT g.high INTO upper_end
    FROM (
        SELECT array_agg(a.ndcg_at_10 - b.ndcg_at_10) AS gains
        FROM _pgrecall.query_scores(home, query_ids, base || learned.settings) a
        JOIN _pgrecall.query_scores(home, query_ids, base) b ON b.query_id = a.query_id
    ) x
    CROSS JOIN LATERAL _pgrecall.gain_interval(x.gains) g;
    IF upper_end < 0 THEN
        UPDATE pgrecall.learned_settings l SET ended_at = clock_timestamp(), end_reason = 'worse'
        WHERE l.id = learned.id AND l.ended_at IS NULL;
        RETURN FOUND;
    END IF;
    RETURN false;
END
$function$;
