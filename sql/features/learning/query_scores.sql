-- Returns the nDCG@10 of judged queries with the given settings.
--
-- settings  for every call of recall(); they take precedence over learned ones
CREATE OR REPLACE FUNCTION _pgrecall.query_scores(namespace_id integer, query_ids text[], settings jsonb)
RETURNS TABLE (query_id text, ndcg_at_10 double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ROWS 100
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    places CONSTANT integer := 10;
    home CONSTANT integer := query_scores.namespace_id;
    namespace CONSTANT text := (SELECT n.name FROM pgrecall.namespaces n WHERE n.id = home);
    model_id CONSTANT integer := (SELECT g.model_id FROM pgrecall.generations g WHERE g.state = 'active');
BEGIN
    RETURN QUERY
        SELECT q.query_id, m.ndcg_at_10
        FROM _pgrecall.answerable_queries(home, model_id) q
        CROSS JOIN LATERAL (
            SELECT COALESCE(array_agg(r.id ORDER BY r.ordinality) FILTER (WHERE r.id <> ALL (q.exclude)), '{}') AS ids
            FROM public.recall(
                q.query, q.query_vec, places + cardinality(q.exclude), namespace, settings => query_scores.settings
            ) WITH ORDINALITY r
        ) a
        CROSS JOIN LATERAL _pgrecall.list_measures(a.ids, q.relevant, places) m
        WHERE q.query_id = ANY (query_ids);
END
$function$;
