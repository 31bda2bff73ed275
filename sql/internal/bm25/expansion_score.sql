-- What added words give of the BM25 score of one memory; NULL where none was added, 0 if it holds none of them.
--
-- scored_memories() has it written out: as a function it would not be written into the query that asks for it.
CREATE OR REPLACE FUNCTION _pgrecall.expansion_score(vector tsvector, word_count integer, parsed pgrecall.parsed_query)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (parsed).added IS NOT NULL THEN COALESCE(round((
    SELECT sum(p.part)
    FROM _pgrecall.bm25_parts(vector, word_count, (parsed).added, (parsed).added_idfs, (parsed).impacts) p
)::numeric, 9)::double precision, 0) END;

COMMENT ON FUNCTION _pgrecall.expansion_score IS
    'What added words give of the BM25 score of one memory; NULL where none was added.';
