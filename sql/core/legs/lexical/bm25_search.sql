-- Finds the best memories by BM25, the sum of idf * impact over the query's terms: from the best postings of each term, or
-- exactly if those yield too few. Tells how it searched.
--
-- It reads the postings, in bounded time (bm25_postings). A few of the best suffice where the filter passes most memories. If
-- it passed fewer than depth of them, their share tells whether it will pass depth of all that were read: then it looks at
-- all. If not, and some terms have unread postings, it searches with filters and terms together, without impacts
-- (bm25_scan).
-- The first statement has one plan for all arguments, so the plan is cached. The second is planned with its arguments,
-- by EXECUTE, because the filters decide which index is best.
--
-- parsed      from parse_query()
-- depth       maximum number of memories
-- tries       how many of the best postings each search of them tried (bm25_postings); NULL: it did not search
-- is_scanned  whether bm25_scan ran
CREATE OR REPLACE FUNCTION _pgrecall.bm25_search(
    namespace_id integer, parsed pgrecall.parsed_query, filter pgrecall.recall_filter, depth integer,
    OUT ids bigint[], OUT scores double precision[], OUT tries integer[], OUT is_scanned boolean
)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    found integer;
    tried integer := greatest(CASE WHEN _pgrecall.is_unfiltered(filter) THEN 200 ELSE 400 END, 4 * depth);
BEGIN
    is_scanned := false;
    IF parsed.words IS NULL THEN
        RETURN;
    END IF;
    LOOP
        tries := tries || tried;
        SELECT array_agg(b.id), array_agg(b.score) INTO ids, scores
        FROM _pgrecall.bm25_postings(
            namespace_id, parsed.words, parsed.idfs, parsed.any_word, parsed.common, parsed.required, filter, depth,
            tried, parsed.budget, parsed.impacts
        ) b;
        found := COALESCE(cardinality(ids), 0);
        EXIT WHEN parsed.common IS NULL OR found >= depth OR tried IS NULL
            -- Of what was read: a term's memories, from its idf, up to the budget.
            OR found * (SELECT sum(least(parsed.budget, (n.size + 1) / exp(i.idf)))
                        FROM (SELECT _pgrecall.namespace_size(namespace_id, 100000000) AS size OFFSET 0) n
                        CROSS JOIN unnest(parsed.idfs) i (idf)) < tried * depth::bigint;
        tried := NULL;
    END LOOP;
    is_scanned := parsed.common IS NOT NULL AND found < depth;
    IF is_scanned THEN
        EXECUTE $statement$
            SELECT array_agg(b.id), array_agg(b.score) FROM _pgrecall.bm25_scan($1, $2, $3, $4, $5, $6, $7, $8) b
        $statement$
        INTO ids, scores
        USING namespace_id, parsed.words, parsed.idfs, parsed.any_word, parsed.required,
            -- Without an index for the filter it reads all that hold a word, which are more.
            _pgrecall.with_keys(namespace_id, filter, NULL), depth, parsed.impacts;
    END IF;
END
$function$;
