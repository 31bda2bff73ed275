-- Returns the part of a memory's BM25 score that comes from expansion terms; NULL without expansion, 0 without a match.
--
-- scored_memories() repeats this expression, because the planner would not inline the function there.
CREATE OR REPLACE FUNCTION _pgrecall.expansion_score(vector tsvector, word_count integer, parsed pgrecall.parsed_query)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (parsed).added IS NOT NULL THEN COALESCE(round((
    SELECT sum(p.part)
    FROM _pgrecall.bm25_parts(vector, word_count, (parsed).added, (parsed).added_idfs, (parsed).impacts) p
)::numeric, 9)::double precision, 0) END;
