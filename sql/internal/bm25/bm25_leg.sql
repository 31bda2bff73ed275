-- Returns the best memories by BM25: the sum of idf * impact over the query's terms.
--
-- It reads the postings, in bounded time (bm25_postings). Where the caller filters nothing, few of the best suffice; if too
-- many of them are forgotten or superseded, it looks at more. If fewer than depth memories are left although some terms have
-- unread postings, it searches with filters and terms together, without postings (bm25_scan).
-- The first statement has one plan for all arguments, so the plan is cached. The second is planned with its arguments,
-- by EXECUTE, because the filters decide which index is best.
--
-- parsed  from parse_query()
-- depth   maximum number of memories
CREATE OR REPLACE FUNCTION _pgrecall.bm25_leg(
    namespace_id integer, parsed pgrecall.parsed_query, filter pgrecall.recall_filter, depth integer
)
RETURNS TABLE (id bigint, rank integer, score double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50
SET search_path FROM CURRENT
AS $function$
DECLARE
    ids bigint[];
    scores double precision[];
    tried integer;
BEGIN
    IF parsed.words IS NULL THEN
        RETURN;
    END IF;
    FOREACH tried IN ARRAY CASE WHEN _pgrecall.is_unfiltered(filter) THEN ARRAY[greatest(200, 4 * depth), 20 * depth]
                                ELSE ARRAY[20 * depth] END LOOP
        SELECT array_agg(b.id), array_agg(b.score) INTO ids, scores
        FROM _pgrecall.bm25_postings(
            namespace_id, parsed.words, parsed.idfs, parsed.any_word, parsed.common, parsed.required, filter, depth,
            tried, parsed.budget, parsed.impacts
        ) b;
        EXIT WHEN parsed.common IS NULL OR tried >= 20 * depth OR cardinality(ids) >= depth;
    END LOOP;
    IF parsed.common IS NOT NULL AND COALESCE(cardinality(ids), 0) < depth THEN
        EXECUTE $statement$
            SELECT array_agg(b.id), array_agg(b.score)
            FROM _pgrecall.bm25_scan($1, $2, $3, $4, $5, $6, $7, $8) b
        $statement$
        INTO ids, scores
        USING namespace_id, parsed.words, parsed.idfs, parsed.any_word, parsed.required, filter, depth, parsed.impacts;
    END IF;

    RETURN QUERY
        SELECT f.id, (row_number() OVER (ORDER BY f.score DESC, f.id))::integer, f.score
        FROM unnest(ids, scores) f (id, score)
        ORDER BY f.score DESC, f.id;
END
$function$;

COMMENT ON FUNCTION _pgrecall.bm25_leg IS
    'Returns the best memories by BM25: from the best postings of each term, or exactly if those yield too few.';
