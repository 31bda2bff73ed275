-- Finds the embeddings nearest to the query vector, of memories and of passages, and tells how it searched.
--
-- A small namespace is searched exactly (dense_exact_limit), a larger one with the HNSW index. Without filters, each of
-- the two searches keeps one plan (rebuild_embedding_accessors). Under filters, EXECUTE plans with the arguments. The scan of an
-- HNSW index can stop early and return rows out of order, so dense_leg() sorts them again. If it returned fewer than depth rows,
-- the exact search runs. If so few memories pass a filter by tags or metadata that to read them by their keys is cheaper than HNSW, it
-- runs at once: a memory read from the table costs 18/8 of one in memories_embedding_scan_idx, for which exact_limit holds. These are
-- separate statements: in one (UNION ALL) the exact half costs time even if it does not run.
--
-- A role that does not see every namespace must not learn how many memories of others are near. In a large namespace it reads a
-- fixed number of entries of the HNSW index (shared_visits), whatever they are, or, if a filter has an index, searches exactly.
--
-- The arguments are those of dense_leg().
--
-- ids, distances  of memories; one with several near passages comes more than once
-- searches        the functions that searched, in order, and passages
-- exact_limit     up to how many memories or passages were searched exactly
CREATE OR REPLACE FUNCTION _pgrecall.dense_search(
    namespace_id integer, query_vec pgvector.halfvec, filter pgrecall.recall_filter, depth integer, exact_rows integer,
    generation integer, has_passages boolean,
    OUT ids bigint[], OUT distances double precision[], OUT searches text[], OUT exact_limit integer
)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    private_rows CONSTANT integer := _pgrecall.private_exact_rows();
    is_large boolean;
    keyed pgrecall.recall_filter;
    has_keys boolean;
    part_ids bigint[];
    part_distances double precision[];
BEGIN
    exact_limit := _pgrecall.dense_exact_limit(greatest(exact_rows, private_rows), depth, pgvector.vector_dims(query_vec));
    is_large := _pgrecall.namespace_size(namespace_id, least(exact_limit, 2147483646) + 1) > exact_limit;
    IF _pgrecall.is_unfiltered(filter) THEN
        IF is_large AND private_rows IS NULL THEN
            searches := ARRAY['nearest_embeddings'];
            SELECT array_agg(n.id), array_agg(n.distance) INTO ids, distances
            FROM _pgrecall.nearest_embeddings(namespace_id, query_vec, depth, generation) n;
        ELSIF is_large THEN
            searches := ARRAY['nearest_shared_embeddings'];
            SELECT array_agg(n.id), array_agg(n.distance) INTO ids, distances
            FROM _pgrecall.nearest_shared_embeddings(
                namespace_id, query_vec, depth, generation, _pgrecall.shared_visits(namespace_id, depth)
            ) n;
        END IF;
        IF cardinality(ids) IS DISTINCT FROM depth THEN
            searches := searches || 'scan_embeddings'::text;
            SELECT array_agg(n.id), array_agg(n.distance) INTO ids, distances
            FROM _pgrecall.scan_embeddings(namespace_id, query_vec, depth, generation) n;
        END IF;
    ELSE
        keyed := _pgrecall.with_keys(namespace_id, filter, greatest(exact_limit / 3 * 2, 2000));
        has_keys := num_nonnulls(keyed.all_keys, keyed.tag_keys, keyed.value_keys) > 0;
        IF is_large AND private_rows IS NULL AND NOT has_keys THEN
            searches := ARRAY['nearest_filtered'];
            EXECUTE $statement$
                SELECT array_agg(n.id), array_agg(n.distance) FROM _pgrecall.nearest_filtered($1, $2, $3, $4, $5) n
            $statement$
            INTO ids, distances
            USING namespace_id, query_vec, filter, depth, generation;
        ELSIF is_large AND NOT _pgrecall.has_indexed_condition(keyed) THEN
            searches := ARRAY['nearest_shared_filtered'];
            EXECUTE $statement$
                SELECT array_agg(n.id), array_agg(n.distance) FROM _pgrecall.nearest_shared_filtered($1, $2, $3, $4, $5, $6) n
            $statement$
            INTO ids, distances
            USING namespace_id, query_vec, keyed, depth, generation, _pgrecall.shared_visits(namespace_id, depth);
        END IF;
        IF cardinality(ids) IS DISTINCT FROM depth THEN
            searches := searches || 'scan_filtered'::text;
            EXECUTE $statement$
                SELECT array_agg(n.id), array_agg(n.distance) FROM _pgrecall.scan_filtered($1, $2, $3, $4, $5) n
            $statement$
            INTO ids, distances
            USING namespace_id, query_vec, keyed, depth, generation;
        END IF;
    END IF;

    IF has_passages THEN
        searches := searches || 'passages'::text;
        EXECUTE _pgrecall.passage_statement(namespace_id, generation, pgvector.vector_dims(query_vec), exact_limit)
        INTO part_ids, part_distances
        -- Several of the nearest may belong to one memory.
        USING namespace_id, query_vec, filter, 4 * depth;
        ids := ids || part_ids;
        distances := distances || part_distances;
    END IF;
END
$function$;
