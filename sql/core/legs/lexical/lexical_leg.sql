-- The lexical leg: returns memories that match the query's words, best first, according to the setting lexical_mode.
--
--   bm25       any of the words, by BM25 (bm25_leg)
--   websearch  matches of "quoted phrases", -minus and or, by BM25
--   ts_rank    memories with every word before memories with some, by ts_rank and importance (ts_rank_leg)
--   prefix     every word as a prefix, ranked like ts_rank
--
-- It can be replaced, together with lexical_score(), by a function of the same signature. That function must return
-- each memory of the namespace at most once, apply _pgrecall.matches_filter before it limits, rank from 1 without gaps,
-- and break ties by id.
--
-- parsed  from parse_query()
-- depth   maximum number of memories
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
        USING namespace_id, parsed.narrow, parsed.broad, _pgrecall.with_keys(namespace_id, filter),
              depth, parsed.min_rank, parsed.importance_share;
    END IF;
END
$function$;
