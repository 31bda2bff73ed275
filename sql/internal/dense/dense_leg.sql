-- The dense leg: returns the memories with the embeddings nearest to the query vector, nearest first.
--
-- The score is the cosine similarity: of the memory, or of its best passage if that is nearer.
--
-- A small namespace is searched exactly (dense_exact_limit), a larger one with the HNSW index. Without filters, each of
-- the two searches keeps one plan (rebuild_embedding_accessors). Under filters, EXECUTE plans with the arguments: the
-- planner chooses an index by what the filters leave. It takes a visit of the HNSW index for eight times cheaper than one is
-- beside reading an embedding from the table (measured), so it plans for 8 * depth rows; the scan stops when row_number() has
-- reached depth. Under a filter by time it plans for 24 * depth: the index that is read then costs a third, and in a database of
-- many tenants fewer memories are left than it expects. The scan of an HNSW index can stop early and return rows out of order,
-- so the rows are sorted again. If it returned fewer than depth rows, the exact search runs. These are separate statements:
-- in one (UNION ALL) the exact half costs time even if it does not run.
--
-- A role that does not see every namespace must not learn how many memories of others are near. In a large namespace it reads a
-- fixed number of entries of the HNSW index (shared_visits), whatever they are, or, if a filter has an index, searches exactly.
--
-- depth       maximum number of memories
-- exact_rows  a namespace with at most this many memories counts as small, and a larger one beside many others
-- generation  the embedding generation; NULL: the active one
-- has_passages  whether long memories are searched by their passages too
--
-- Errors  22023 depth or exact_rows is negative
CREATE OR REPLACE FUNCTION _pgrecall.dense_leg(
    namespace_id integer, query_vec pgvector.halfvec, filter pgrecall.recall_filter, depth integer, exact_rows integer,
    generation integer DEFAULT NULL, has_passages boolean DEFAULT false
)
RETURNS TABLE (id bigint, rank integer, score double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50
SET search_path FROM CURRENT
AS $function$
DECLARE
    nearest bigint[];
    distances double precision[];
    chosen integer := COALESCE(generation, pgrecall.active_generation());
    parts bigint[];
    part_distances double precision[];
    are_few boolean;
    exact_limit integer;
    is_large boolean;
    private_rows integer;
    keyed pgrecall.recall_filter;
BEGIN
    IF query_vec IS NULL THEN
        RETURN;
    END IF;
    PERFORM _pgrecall.parse_row_limit(depth), _pgrecall.parse_row_limit(exact_rows);

    private_rows := _pgrecall.private_exact_rows();
    exact_limit := _pgrecall.dense_exact_limit(greatest(exact_rows, private_rows), depth, pgvector.vector_dims(query_vec));
    is_large := _pgrecall.namespace_size(namespace_id, least(exact_limit, 2147483646) + 1) > exact_limit;
    IF _pgrecall.is_unfiltered(filter) THEN
        IF is_large AND private_rows IS NULL THEN
            SELECT array_agg(n.id), array_agg(n.distance) INTO nearest, distances
            FROM _pgrecall.nearest_embeddings(namespace_id, query_vec, depth, chosen) n;
        ELSIF is_large THEN
            SELECT array_agg(n.id), array_agg(n.distance) INTO nearest, distances
            FROM _pgrecall.nearest_shared_embeddings(
                namespace_id, query_vec, depth, chosen, _pgrecall.shared_visits(namespace_id, depth)
            ) n;
        END IF;
        IF cardinality(nearest) IS DISTINCT FROM depth THEN
            SELECT array_agg(n.id), array_agg(n.distance) INTO nearest, distances
            FROM _pgrecall.scan_embeddings(namespace_id, query_vec, depth, chosen) n;
        END IF;
    ELSE
        keyed := _pgrecall.with_keys(namespace_id, filter);
        IF is_large AND private_rows IS NULL THEN
            EXECUTE $statement$
                SELECT array_agg(n.id), array_agg(n.distance)
                FROM (
                    SELECT w.id, w.distance, row_number() OVER () AS place
                    FROM (
                        SELECT m.id, _pgrecall.embedding_of(m, $5) OPERATOR(pgvector.<=>) $2 AS distance
                        FROM pgrecall.memories m
                        WHERE m.namespace_id = $1 AND _pgrecall.embedding_of(m, $5) IS NOT NULL AND _pgrecall.matches_filter(m, $3)
                        ORDER BY _pgrecall.embedding_of(m, $5) OPERATOR(pgvector.<=>) $2
                        LIMIT $4 * CASE WHEN _pgrecall.has_time_condition($3) THEN 24 ELSE 8 END
                    ) w
                ) n
                WHERE n.place <= $4
            $statement$
            INTO nearest, distances
            USING namespace_id, query_vec, keyed, depth, chosen;
        END IF;
        IF is_large AND private_rows IS NOT NULL AND NOT _pgrecall.has_indexed_condition(keyed) THEN
            EXECUTE $statement$
                SELECT array_agg(n.id), array_agg(n.distance)
                FROM (
                    SELECT (w.memory).id, w.distance
                    FROM (
                        SELECT m AS memory, _pgrecall.embedding_of(m, $5) OPERATOR(pgvector.<=>) $2 AS distance
                        FROM pgrecall.memories m
                        WHERE m.deleted_at IS NULL AND _pgrecall.embedding_of(m, $5) IS NOT NULL
                        ORDER BY _pgrecall.embedding_of(m, $5) OPERATOR(pgvector.<=>) $2
                        LIMIT $6
                    ) w
                    WHERE (w.memory).namespace_id = $1 AND _pgrecall.matches_filter(w.memory, $3)
                    ORDER BY w.distance + 0, (w.memory).id
                    LIMIT $4
                ) n
            $statement$
            INTO nearest, distances
            USING namespace_id, query_vec, filter, depth, chosen, _pgrecall.shared_visits(namespace_id, depth);
        END IF;
        -- Adding zero keeps the planner from using the HNSW index.
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
            USING namespace_id, query_vec, keyed, depth, chosen;
        END IF;
    END IF;

    IF has_passages THEN
        SELECT count(*) <= exact_limit INTO are_few
        FROM (
            SELECT FROM pgrecall.passages p WHERE p.namespace_id = dense_leg.namespace_id AND p.generation_id = chosen
            LIMIT exact_limit::bigint + 1
        ) counted;
        -- The expression and the condition are those of the index of this generation.
        EXECUTE format(
            $statement$
                SELECT array_agg(n.memory_id), array_agg(n.distance)
                FROM (
                    SELECT p.memory_id, (p.embedding::pgvector.halfvec(%1$s)) OPERATOR(pgvector.<=>) $2 AS distance
                    FROM pgrecall.passages p
                    JOIN pgrecall.memories m ON m.id = p.memory_id
                    WHERE p.namespace_id = $1 AND p.generation_id = %2$s AND m.namespace_id = $1 AND _pgrecall.matches_filter(m, $3)
                    ORDER BY ((p.embedding::pgvector.halfvec(%1$s)) OPERATOR(pgvector.<=>) $2)%3$s
                    LIMIT $4
                ) n
            $statement$,
            pgvector.vector_dims(query_vec), chosen, CASE WHEN are_few THEN ' + 0, p.memory_id, p.number' END
        )
        INTO parts, part_distances
        -- Several of the nearest may belong to one memory.
        USING namespace_id, query_vec, filter, 4 * depth;
    END IF;

    RETURN QUERY
        SELECT n.id, (row_number() OVER (ORDER BY min(n.distance), n.id))::integer, 1 - min(n.distance)
        FROM unnest(nearest || parts, distances || part_distances) AS n (id, distance)
        GROUP BY n.id
        ORDER BY min(n.distance), n.id
        LIMIT depth;
END
$function$;

COMMENT ON FUNCTION _pgrecall.dense_leg IS
    'Returns the memories nearest to the query vector by cosine: from the HNSW index, or exactly if that returns '
    'too few.';
