-- Returns the memories that a recall of some words would find in a namespace, best first; at most 100.
--
-- For a page, whose daemon has no grant in the namespace. A caller with its owner's rights has checked who asks.
CREATE OR REPLACE FUNCTION _pgrecall.page_hits(namespace_id integer, query text, filter pgrecall.recall_filter)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
DECLARE
    request CONSTANT pgrecall.recall_request := _pgrecall.resolve_request(
        query, NULL, page_hits.namespace_id,
        '{"k": 100, "strategy": "hybrid", "sort_by": "relevance", "mmr_lambda": 1, "collapse_duplicates": "off"}'
    );
BEGIN
    RETURN ARRAY(SELECT r.id FROM _pgrecall.rank_memories(request, filter, now()) r ORDER BY r.score DESC, r.id DESC);
END
$function$;
