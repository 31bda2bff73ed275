-- The dense leg: memories whose embedding is nearest to the query's, nearest first; score = cosine similarity.
--
-- A small namespace is searched exactly. A larger one is searched as the planner sees fit, usually by the HNSW index;
-- an index scan stops early under filters and may be out of order, so its rows are sorted again, and where it gave
-- fewer than depth the exact search answers. Two statements, since as one (UNION ALL) the exact half costs even when
-- it does not run. EXECUTE plans each with its arguments: a generic plan would assume a namespace of average size.
--
-- depth       how many memories at the most
-- exact_rows  namespaces of up to this many memories are small
-- generation  whose embeddings; NULL: the active one's
--
-- Errors  22023 depth or exact_rows is negative
CREATE OR REPLACE FUNCTION _pgrecall.dense_leg(
    namespace_id integer, query_vec pgvector.halfvec, filter pgrecall.recall_filter, depth integer, exact_rows integer,
    generation integer DEFAULT NULL
)
RETURNS TABLE (id bigint, rank integer, score double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50
SET search_path FROM CURRENT
AS $function$
DECLARE
    nearest bigint[];
    distances double precision[];
    chosen integer := COALESCE(generation, pgrecall.active_generation());
BEGIN
    IF query_vec IS NULL THEN
        RETURN;
    END IF;
    PERFORM _pgrecall.parse_row_limit(depth), _pgrecall.parse_row_limit(exact_rows);

    IF _pgrecall.namespace_size(namespace_id, least(exact_rows, 2147483646) + 1) > exact_rows THEN
        EXECUTE $statement$
            SELECT array_agg(n.id), array_agg(n.distance)
            FROM (
                SELECT m.id, _pgrecall.embedding_of(m, $5) OPERATOR(pgvector.<=>) $2 AS distance
                FROM pgrecall.memories m
                WHERE m.namespace_id = $1 AND _pgrecall.embedding_of(m, $5) IS NOT NULL AND _pgrecall.matches_filter(m, $3)
                ORDER BY _pgrecall.embedding_of(m, $5) OPERATOR(pgvector.<=>) $2
                LIMIT $4
            ) n
        $statement$
        INTO nearest, distances
        USING namespace_id, query_vec, filter, depth, chosen;
    END IF;

    -- Adding zero keeps the planner from answering the exact search by the index as well.
    IF cardinality(nearest) IS DISTINCT FROM depth THEN
        EXECUTE $statement$
            SELECT array_agg(n.id), array_agg(n.distance)
            FROM (
                SELECT m.id, _pgrecall.embedding_of(m, $5) OPERATOR(pgvector.<=>) $2 AS distance
                FROM pgrecall.memories m
                WHERE m.namespace_id = $1 AND _pgrecall.embedding_of(m, $5) IS NOT NULL AND _pgrecall.matches_filter(m, $3)
                ORDER BY (_pgrecall.embedding_of(m, $5) OPERATOR(pgvector.<=>) $2) + 0, m.id
                LIMIT $4
            ) n
        $statement$
        INTO nearest, distances
        USING namespace_id, query_vec, filter, depth, chosen;
    END IF;

    RETURN QUERY
        SELECT n.id, (row_number() OVER (ORDER BY n.distance, n.id))::integer, 1 - n.distance
        FROM unnest(nearest, distances) AS n (id, distance)
        ORDER BY n.distance, n.id;
END
$function$;

COMMENT ON FUNCTION _pgrecall.dense_leg IS
    'Memories nearest to the query vector by cosine, with their similarity: by the HNSW index, exactly where that would give too few.';
