-- Returns the plans of the searches that dense_leg() runs with the same arguments, each under the name of its function.
CREATE OR REPLACE FUNCTION _pgrecall.dense_plan(
    namespace_id integer, query_vec pgvector.halfvec, filter pgrecall.recall_filter, depth integer, exact_rows integer,
    generation integer, has_passages boolean
)
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    explain CONSTANT text := 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ';
    searched CONSTANT integer := COALESCE(generation, pgrecall.active_generation());
    found record;
    search text;
BEGIN
    SELECT * INTO found FROM _pgrecall.dense_search(namespace_id, query_vec, filter, depth, exact_rows, searched, has_passages);
    FOREACH search IN ARRAY found.searches LOOP
        RETURN QUERY SELECT 'dense leg, ' || search || ':';
        CASE
            WHEN search LIKE '%embeddings' THEN
                RETURN QUERY SELECT e.*
                FROM pgrecall.generations g
                CROSS JOIN LATERAL _pgrecall.explain_search(
                    ('_pgrecall.' || search)::regproc, _pgrecall.search_statement(search, g.column_name),
                    ARRAY[
                        namespace_id::text, query_vec::text, depth::text, searched::text,
                        _pgrecall.shared_visits(namespace_id, depth)::text
                    ]
                ) e
                WHERE g.id = searched;
            WHEN search = 'passages' THEN
                RETURN QUERY EXECUTE explain || _pgrecall.passage_statement(
                    namespace_id, searched, pgvector.vector_dims(query_vec), found.exact_limit
                )
                USING namespace_id, query_vec, filter, 4 * depth;
            ELSE
                RETURN QUERY EXECUTE explain || format(
                    'SELECT array_agg(n.id), array_agg(n.distance) FROM _pgrecall.%I($1, $2, $3, $4, $5%s) n',
                    search, CASE search WHEN 'nearest_shared_filtered' THEN ', $6' END
                )
                USING namespace_id, query_vec, _pgrecall.with_keys(namespace_id, filter, greatest(found.exact_limit / 3 * 2, 2000)),
                      depth, searched, _pgrecall.shared_visits(namespace_id, depth);
        END CASE;
        RETURN QUERY SELECT '';
    END LOOP;
END
$function$;
