-- Returns the statement that searches the passages of a generation: with its HNSW index, or exactly if there are few.
--
-- Its expression and condition are those of the index of this generation. To be run by EXECUTE with these arguments: $1
-- namespace_id, $2 query_vec, $3 filter, $4 number of passages.
--
-- exact_limit  up to how many passages of the namespace are few
CREATE OR REPLACE FUNCTION _pgrecall.passage_statement(
    namespace_id integer, generation integer, dimension integer, exact_limit integer
)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    are_few CONSTANT boolean := (
        SELECT count(*) <= exact_limit
        FROM (
            SELECT FROM pgrecall.passages p
            WHERE p.namespace_id = passage_statement.namespace_id AND p.generation_id = generation
            LIMIT exact_limit::bigint + 1
        ) counted
    );
BEGIN
    RETURN format(
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
        dimension, generation, CASE WHEN are_few THEN ' + 0, p.memory_id, p.number' END
    );
END
$function$;
