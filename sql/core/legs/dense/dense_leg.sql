-- The dense leg: returns the memories nearest to the query vector by cosine, nearest first (dense_search): from the HNSW
-- index, or exactly if that returns too few.
--
-- The score is the cosine similarity: of the memory, or of its best passage if that is nearer.
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
    found record;
BEGIN
    IF query_vec IS NULL THEN
        RETURN;
    END IF;
    PERFORM _pgrecall.parse_row_limit(depth), _pgrecall.parse_row_limit(exact_rows);
    SELECT s.ids, s.distances INTO found
    FROM _pgrecall.dense_search(
        namespace_id, query_vec, filter, depth, exact_rows, COALESCE(generation, pgrecall.active_generation()), has_passages
    ) s;
    RETURN QUERY
        SELECT n.id, (row_number() OVER (ORDER BY min(n.distance), n.id))::integer, 1 - min(n.distance)
        FROM unnest(found.ids, found.distances) AS n (id, distance)
        GROUP BY n.id
        ORDER BY min(n.distance), n.id
        LIMIT depth;
END
$function$;
