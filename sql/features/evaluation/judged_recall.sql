-- Runs recall() with the settings in force for every judged query of a namespace and returns its measures; recall_eval()
-- averages them.
--
-- Each query runs through recall() itself, for k and at least 20 memories, plus as many as it excludes; excluded
-- memories are dropped before ranks are counted (answerable_queries). Feedback does not count: it covers only memories
-- that were returned.
--
-- recall_at_k    share of the relevant memories among the first k
-- ndcg_at_10     gain of the first 10 places, discounted by log2(place + 1), as a share of the best possible
-- mrr            1 / place of the first relevant memory; 0 beyond place 20
-- dense_overlap  share of the exact dense list that the configured dense leg finds: below 1 the HNSW index misses some.
--                Memories as near as the last of the exact list count as found. NULL: no vector, or no embeddings
--
-- generation  the generation to search; leaves out queries with a vector but none of its model. NULL: the one recall()
--             reads
--
-- Errors  22023 k outside 1..500, a setting out of range;  42704 no such namespace;  55000 vectors of another model
--
-- Costs two dense searches per query in addition to the recall, one of them over the whole namespace.
CREATE OR REPLACE FUNCTION pgrecall.judged_recall(
    namespace text DEFAULT NULL, k integer DEFAULT 10, generation integer DEFAULT NULL
)
RETURNS TABLE (
    query_id text, stratum text, relevant integer, hits integer,
    recall_at_k double precision, ndcg_at_10 double precision, mrr double precision, dense_overlap double precision
)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 100
SET search_path FROM CURRENT
AS $function$
DECLARE
    mrr_places CONSTANT integer := 20;
    -- More than any namespace has. dense_leg() adds one to it.
    whole_namespace CONSTANT integer := 2147483646;
    home integer := pgrecall.namespace_id(namespace);
    settings pgrecall.recall_settings := _pgrecall.effective_settings();
    depth CONSTANT integer := _pgrecall.leg_depth(1, settings.dense_pool, settings.leg_depth, k);
    foreign_vectors bigint;
    chosen record;
BEGIN
    IF home IS NULL THEN
        RAISE EXCEPTION 'there is no namespace "%"', left(pgrecall.namespace_name(namespace), 200)
            USING ERRCODE = 'undefined_object', HINT = 'SELECT name FROM pgrecall.list_namespaces() lists them.';
    ELSIF k IS NULL OR k NOT BETWEEN 1 AND 500 THEN
        RAISE EXCEPTION 'k must be between 1 and 500, not %', COALESCE(k::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Use the k that callers use. The default is 10.';
    END IF;
    SELECT g.id, g.model_id, m.name AS model INTO chosen
    FROM pgrecall.generations g
    LEFT JOIN pgrecall.embedding_models m ON m.id = g.model_id
    WHERE CASE WHEN judged_recall.generation IS NOT NULL THEN g.id = judged_recall.generation
               WHEN settings.query_model IS NOT NULL THEN m.name = settings.query_model
               ELSE g.state = 'active' END
    ORDER BY g.state = 'active' DESC
    LIMIT 1;
    SELECT count(*) FILTER (WHERE v.is_comparable IS NOT NULL AND NOT v.is_comparable) INTO foreign_vectors
    FROM pgrecall.judged_queries q
    CROSS JOIN LATERAL (
        SELECT bool_or(v.embedding_model_id IS NOT DISTINCT FROM chosen.model_id) AS is_comparable
        FROM pgrecall.judged_vectors v WHERE v.namespace_id = q.namespace_id AND v.query_id = q.query_id
    ) v
    WHERE q.namespace_id = home AND q.judged_by = '';
    IF foreign_vectors > 0 AND judged_recall.generation IS NULL THEN
        RAISE EXCEPTION '% judged queries have vectors of another embedding model', foreign_vectors
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Vectors of two models cannot be compared. Call judge() again with vectors of the active model.';
    END IF;

    RETURN QUERY
        WITH judged AS MATERIALIZED (
            SELECT a.query_id, a.stratum, a.query, a.exclude, a.query_vec, a.relevant, cardinality(a.relevant) AS count
            FROM _pgrecall.answerable_queries(home, chosen.model_id) a
            WHERE a.judged_by = ''
              AND (foreign_vectors = 0 OR a.query_vec IS NOT NULL OR NOT EXISTS (
                  SELECT FROM pgrecall.judged_vectors v WHERE v.namespace_id = home AND v.query_id = a.query_id
              ))
        )
        SELECT g.query_id, g.stratum, g.count, answer.hits,
               answer.hits::double precision / g.count, answer.ndcg_at_10, answer.reciprocal, dense.overlap
        FROM judged g
        CROSS JOIN LATERAL (
            SELECT COALESCE(array_agg(r.id ORDER BY r.ordinality) FILTER (WHERE r.id <> ALL (g.exclude)), '{}') AS ids
            FROM public.recall(
                g.query, g.query_vec, greatest(k, mrr_places) + cardinality(g.exclude), pgrecall.namespace_name(judged_recall.namespace),
                settings => CASE WHEN judged_recall.generation IS NOT NULL THEN jsonb_build_object('query_model', chosen.model) END
            ) WITH ORDINALITY r
        ) list
        CROSS JOIN LATERAL _pgrecall.list_measures(list.ids, g.relevant, k) answer
        CROSS JOIN LATERAL (
            SELECT (
                       SELECT count(*)
                       FROM _pgrecall.dense_leg(
                           home, g.query_vec, NULL, depth,
                           settings.dense_exact_rows, chosen.id
                       ) d
                       WHERE d.score >= exact.last
                   )::double precision / NULLIF(exact.size, 0) AS overlap
            FROM (
                SELECT count(*) AS size, min(d.score) AS last
                FROM _pgrecall.dense_leg(
                    home, g.query_vec, NULL, depth, whole_namespace, chosen.id
                ) d
            ) exact
        ) dense
        ORDER BY g.query_id;
END
$function$;

ALTER FUNCTION pgrecall.judged_recall OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.judged_recall TO pgrecall_reader;
