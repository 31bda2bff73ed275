-- Returns the best memories by BM25: the sum of idf * impact over the query's terms.
--
-- It reads the postings, in bounded time (bm25_postings). A few of the best suffice where the filter passes most memories. If
-- it passed fewer than depth of them, their share tells whether it will pass depth of all that were read: then it looks at
-- all. If not, and some terms have unread postings, it searches with filters and terms together, without impacts
-- (bm25_scan).
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
    found integer;
    tried integer := greatest(CASE WHEN _pgrecall.is_unfiltered(filter) THEN 200 ELSE 400 END, 4 * depth);
BEGIN
    IF parsed.words IS NULL THEN
        RETURN;
    END IF;
    LOOP
        SELECT array_agg(b.id), array_agg(b.score) INTO ids, scores
        FROM _pgrecall.bm25_postings(
            namespace_id, parsed.words, parsed.idfs, parsed.any_word, parsed.common, parsed.required, filter, depth,
            tried, parsed.budget, parsed.impacts
        ) b;
        found := COALESCE(cardinality(ids), 0);
        EXIT WHEN parsed.common IS NULL OR found >= depth OR tried IS NULL
            OR found * cardinality(parsed.words) * parsed.budget::bigint < tried * depth::bigint;
        tried := NULL;
    END LOOP;
    IF parsed.common IS NOT NULL AND found < depth THEN
        EXECUTE $statement$
            SELECT array_agg(b.id), array_agg(b.score)
            FROM _pgrecall.bm25_scan($1, $2, $3, $4, $5, $6, $7, $8) b
        $statement$
        INTO ids, scores
        USING namespace_id, parsed.words, parsed.idfs, parsed.any_word, parsed.required, _pgrecall.with_keys(namespace_id, filter),
            depth, parsed.impacts;
    END IF;

    RETURN QUERY
        SELECT f.id, (row_number() OVER (ORDER BY f.score DESC, f.id))::integer, f.score
        FROM unnest(ids, scores) f (id, score)
        ORDER BY f.score DESC, f.id;
END
$function$;

COMMENT ON FUNCTION _pgrecall.bm25_leg IS
    'Returns the best memories by BM25: from the best postings of each term, or exactly if those yield too few.';
