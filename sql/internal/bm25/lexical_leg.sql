-- The lexical leg: memories that hold words of the query, best first, in the way of the setting lexical_mode.
--
--   bm25       any of the words, by BM25 (bm25_leg)
--   websearch  what matches "quoted phrases", -minus and or, by BM25
--   ts_rank    every word before some of the words, by ts_rank and importance (ts_rank_leg)
--   prefix     every word or its beginning, by the same
--
-- Another implementation can take its place, together with scored_memories(): a function of this signature that returns
-- each memory of the namespace at most once, applies _pgrecall.matches_filter before it limits, ranks from 1 without gaps, and
-- breaks ties by id.
--
-- reading  the query, from lexical_query()
-- depth    how many memories at the most
--
-- Errors  22023 depth is negative
CREATE OR REPLACE FUNCTION _pgrecall.lexical_leg(
    namespace_id integer, parsed pgrecall.parsed_query, filter pgrecall.recall_filter, depth integer
)
RETURNS TABLE (id bigint, rank integer, score double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50
SET search_path FROM CURRENT
AS $function$
BEGIN
    PERFORM _pgrecall.parse_row_limit(depth);
    IF parsed.mode IN ('bm25', 'websearch') THEN
        RETURN QUERY SELECT l.* FROM _pgrecall.bm25_leg(namespace_id, parsed, filter, depth) l;
    ELSE
        RETURN QUERY EXECUTE $statement$
            SELECT l.* FROM _pgrecall.ts_rank_leg($1, $2, $3, $4, $5, $6, $7) l
        $statement$
        USING namespace_id, parsed.narrow, parsed.broad, filter, depth, parsed.min_rank, parsed.importance_share;
    END IF;
END
$function$;

COMMENT ON FUNCTION _pgrecall.lexical_leg IS
    'Memories that hold words of the query, best first: by BM25, or in another way of the setting lexical_mode.';
