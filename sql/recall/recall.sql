-- recall: the memories most relevant to a query, from three legs fused in one statement.
--
-- How a memory gets its score:
--   1. lexical_leg ranks the memories that hold the query's words, dense_leg those whose embedding is near query_vec;
--   2. the best of both are the seeds from which graph_leg walks to memories that share their concepts;
--   3. the three lists are joined, and score = sum over the legs of weight / (k + rank) (pgrecall.rrf), and the like of
--      a first rank, times phrase_bonus, for a memory of the lexical list that holds the query word for word.
-- A leg that did not find a memory adds nothing: without a vector and without concepts the order is the lexical one.
-- Every leg filters before it limits, and its depth is never less than k: fewer than k memories come back only if
-- fewer match. Ties break by id.
--
-- query              words to look for, at most 16,384 characters; may be empty if there is a vector
-- query_vec          the query's embedding, from the model that recall_status() names; NULL: no dense leg
-- k                  how many memories, 1 to 1000
-- namespace          NULL: the setting pgrecall.namespace, else 'default'; no rows if it does not exist
-- categories         any of these categories
-- tags_any, tags_all any, all of these tags, as written
-- metadata_contains  metadata that contains this object
-- since, until       coalesce(occurred_at, created_at) in [since, until)
--
-- Errors  22023 k, vector or setting out of range, or nothing to recall by;  54000 query too long
--
-- Writes nothing and sets nothing: runs on a standby, and every SET LOCAL of the caller counts. The statement is run by
-- EXECUTE so that it is always planned with its arguments; a cached generic plan would fall off the indexes.
CREATE OR REPLACE FUNCTION public.recall(
    query text,
    query_vec halfvec DEFAULT NULL,
    k integer DEFAULT 10,
    namespace text DEFAULT NULL,
    categories text[] DEFAULT NULL,
    tags_any text[] DEFAULT NULL,
    tags_all text[] DEFAULT NULL,
    metadata_contains jsonb DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    include_superseded boolean DEFAULT false
)
RETURNS TABLE (
    id bigint, external_id text, title text, content text, score double precision,
    lexical_rank integer, dense_rank integer, graph_rank integer,
    lexical_score double precision, similarity double precision, graph_score double precision,
    category text, tags text[], metadata jsonb, importance real, speaker text, session text, source text,
    occurred_at timestamptz, created_at timestamptz, is_sensitive boolean
)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10
SET search_path FROM CURRENT
AS $function$
DECLARE
    namespace_id integer := pgrecall.namespace_id(namespace);
    languages regconfig[] := pgrecall.query_languages(namespace);
    settings pgrecall.recall_settings := pgrecall.effective_settings();
    filter pgrecall.recall_filter :=
        (categories, tags_any, tags_all, metadata_contains, since, until, include_superseded);
BEGIN
    PERFORM pgrecall.check_query(query, query_vec, k);
    RETURN QUERY EXECUTE $statement$
        WITH lexical AS MATERIALIZED (
            SELECT l.id, l.rank, l.score
            FROM pgrecall.lexical_leg(
                $1, $2, $3, $6, greatest(($7).leg_depth, $5), $7
            ) l
        ), phrase AS MATERIALIZED (
            SELECT l.id
            FROM lexical l
            JOIN pgrecall.memories m ON m.id = l.id
            WHERE ($7).phrase_bonus > 0 AND ($7).lexical_weight > 0 AND m.search_vector @@ $9
        ), dense AS MATERIALIZED (
            SELECT d.id, d.rank, d.score
            FROM pgrecall.dense_leg($1, $4, $6, greatest(($7).leg_depth, $5), ($7).dense_exact_rows) d
        ), seed AS (
            SELECT id,
                   pgrecall.rrf(lexical.rank, ($7).lexical_weight, ($7).rrf_k)
                   + pgrecall.rrf(dense.rank, ($7).dense_weight, ($7).rrf_k) AS weight
            FROM lexical
            FULL OUTER JOIN dense USING (id)
            ORDER BY weight DESC, id
            LIMIT ($7).graph_seeds
        ), seeds AS (
            -- Weights relative to the best seed, so that graph scores do not depend on the fusion's scale.
            SELECT array_agg(s.id ORDER BY s.weight DESC, s.id) AS ids,
                   array_agg(s.weight / NULLIF(s.best, 0) ORDER BY s.weight DESC, s.id) AS weights
            FROM (SELECT seed.id, seed.weight, max(seed.weight) OVER () AS best FROM seed) s
        ), graph AS MATERIALIZED (
            SELECT g.id, g.rank, g.score
            FROM seeds
            CROSS JOIN LATERAL pgrecall.graph_leg(
                $1, $2, seeds.ids, seeds.weights, $6,
                greatest(($7).leg_depth, $5), ($7).graph_seeds, ($7).graph_neighbours, ($7).graph_hops,
                ($7).graph_decay, ($7).graph_df_min, $8
            ) g
            WHERE ($7).graph_weight > 0
        ), fused AS (
            SELECT id,
                   pgrecall.rrf(lexical.rank, ($7).lexical_weight, ($7).rrf_k)
                   + pgrecall.rrf(dense.rank, ($7).dense_weight, ($7).rrf_k)
                   + pgrecall.rrf(graph.rank, ($7).graph_weight, ($7).rrf_k)
                   + CASE WHEN id IN (SELECT p.id FROM phrase p) THEN pgrecall.rrf(1, ($7).phrase_bonus, ($7).rrf_k) ELSE 0 END
                       AS score,
                   lexical.rank AS lexical_rank, dense.rank AS dense_rank, graph.rank AS graph_rank,
                   lexical.score AS lexical_score, graph.score AS graph_score
            FROM lexical
            FULL OUTER JOIN dense USING (id)
            FULL OUTER JOIN graph USING (id)
            ORDER BY score DESC, id
            LIMIT $5
        )
        SELECT m.id, m.external_id, m.title, m.content, f.score,
               f.lexical_rank, f.dense_rank, f.graph_rank,
               f.lexical_score, 1 - (m.embedding <=> $4), f.graph_score,
               m.category, m.tags, m.metadata, m.importance, m.speaker, m.session, m.source,
               m.occurred_at, m.created_at, m.is_sensitive
        FROM fused f
        JOIN pgrecall.memories m ON m.id = f.id
        ORDER BY f.score DESC, f.id
    $statement$
    USING namespace_id, query, languages, query_vec, k, filter, settings,
          pgrecall.hub_threshold(namespace_id, settings), pgrecall.phrase_words(languages, query);
END
$function$;

COMMENT ON FUNCTION public.recall IS
    'The memories most relevant to a query: lexical, dense and concept-graph candidates of one namespace, fused by weighted '
    'reciprocal rank, best first. query_vec is the query''s embedding (NULL: words and concepts only). Ranks are places in '
    'each leg''s list, NULL where it did not find the memory; similarity is the cosine to query_vec; is read-only.';
