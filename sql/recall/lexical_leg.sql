-- The lexical leg: memories that hold words of the query, best first, in the way of the setting lexical_mode.
--
--   bm25       any of the words, by BM25 (bm25_leg)
--   websearch  what matches "quoted phrases", -minus and or, by BM25
--   ts_rank    every word before some of the words, by 0.7 ts_rank + 0.3 importance (ts_rank_leg)
--   prefix     every word or its beginning, by the same
--
-- Another implementation can take its place: a function of this signature that returns each memory of the namespace at
-- most once, applies pgrecall.matches before it limits, ranks from 1 without gaps, and breaks ties by id.
--
-- languages  text-search configurations in which the query is read
-- depth      how many memories at the most
CREATE OR REPLACE FUNCTION pgrecall.lexical_leg(
    namespace_id integer, query text, languages regconfig[], filter pgrecall.recall_filter,
    depth integer, settings pgrecall.recall_settings
)
RETURNS TABLE (id bigint, rank integer, score double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50
SET search_path FROM CURRENT
AS $function$
DECLARE
    narrow tsquery;
    broad tsquery;
BEGIN
    IF settings.lexical_mode IN ('bm25', 'websearch') THEN
        IF settings.lexical_mode = 'websearch' THEN
            narrow := pgrecall.websearch_words(languages, query);
        END IF;
        RETURN QUERY SELECT l.* FROM pgrecall.bm25_leg(
            namespace_id, pgrecall.query_terms(languages, query), narrow, filter,
            depth, pgrecall.postings_budget(settings, depth), settings.lexical_terms
        ) l;
        RETURN;
    ELSIF settings.lexical_mode = 'prefix' THEN
        narrow := pgrecall.prefix_words(languages, query);
    ELSE
        narrow := pgrecall.every_word(languages, query);
        broad := pgrecall.any_word(languages, query);
    END IF;
    RETURN QUERY EXECUTE $statement$
        SELECT l.* FROM pgrecall.ts_rank_leg($1, $2, $3, $4, $5, $6) l
    $statement$
    USING namespace_id, narrow, broad, filter, depth, settings.lexical_min_rank;
END
$function$;

COMMENT ON FUNCTION pgrecall.lexical_leg IS
    'Memories that hold words of the query, best first: by BM25, or in another way of the setting lexical_mode.';
