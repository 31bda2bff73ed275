-- The dense leg: returns the memories with the embeddings nearest to the query vector, nearest first.
--
-- The score is the cosine similarity.
--
-- A small namespace is searched exactly. For a larger one the planner chooses, usually the HNSW index. An index scan
-- can stop early under filters and return rows out of order, so the rows are sorted again. If it returned fewer than
-- depth rows, the exact search runs. These are two statements: in one (UNION ALL) the exact half costs time even if it
-- does not run. EXECUTE plans each with its arguments; a generic plan would assume a namespace of average size.
--
-- depth       maximum number of memories
-- exact_rows  a namespace with at most this many memories counts as small
-- generation  the embedding generation; NULL: the active one
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

    -- Adding zero keeps the planner from using the index for the exact search.
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
    'Returns the memories nearest to the query vector by cosine: from the HNSW index, or exactly if that returns '
    'too few.';
