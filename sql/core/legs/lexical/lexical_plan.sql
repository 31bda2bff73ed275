-- Returns the plans of the searches that lexical_leg() runs with the same arguments, each under the name of its function.
CREATE OR REPLACE FUNCTION _pgrecall.lexical_plan(
    namespace_id integer, parsed pgrecall.parsed_query, filter pgrecall.recall_filter, depth integer
)
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    explain CONSTANT text := 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ';
    found record;
    tried integer;
BEGIN
    IF parsed.mode NOT IN ('bm25', 'websearch') THEN
        RETURN QUERY SELECT * FROM unnest(ARRAY['lexical leg, ts_rank_leg:']);
        RETURN QUERY EXECUTE explain || 'SELECT l.* FROM _pgrecall.ts_rank_leg($1, $2, $3, $4, $5, $6, $7) l'
            USING namespace_id, parsed.narrow, parsed.broad, _pgrecall.with_keys(namespace_id, filter), depth, parsed.min_rank,
                  parsed.importance_share;
        RETURN QUERY SELECT '';
        RETURN;
    END IF;
    SELECT * INTO found FROM _pgrecall.bm25_search(namespace_id, parsed, filter, depth);
    FOREACH tried IN ARRAY COALESCE(found.tries, '{}') LOOP
        RETURN QUERY SELECT * FROM unnest(ARRAY['lexical leg, bm25_postings:']);
        RETURN QUERY SELECT * FROM _pgrecall.explain_search(
            '_pgrecall.bm25_postings',
            'SELECT array_agg(b.id), array_agg(b.score) FROM _pgrecall.bm25_postings($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) b',
            ARRAY[
                namespace_id::text, parsed.words::text, parsed.idfs::text, parsed.any_word::text, parsed.common::text,
                parsed.required::text, filter::text, depth::text, tried::text, parsed.budget::text, parsed.impacts::text
            ]
        );
        RETURN QUERY SELECT '';
    END LOOP;
    IF found.is_scanned THEN
        RETURN QUERY SELECT * FROM unnest(ARRAY['lexical leg, bm25_scan:']);
        RETURN QUERY EXECUTE explain
            || 'SELECT array_agg(b.id), array_agg(b.score) FROM _pgrecall.bm25_scan($1, $2, $3, $4, $5, $6, $7, $8) b'
            USING namespace_id, parsed.words, parsed.idfs, parsed.any_word, parsed.required,
                  _pgrecall.with_keys(namespace_id, filter, NULL), depth, parsed.impacts;
        RETURN QUERY SELECT '';
    END IF;
END
$function$;
