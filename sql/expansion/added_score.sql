-- What added words give of the BM25 score of one memory; NULL where none was added, 0 if it holds none of them.
--
-- scored_memories() has it written out: as a function it would not be written into the query that asks for it.
CREATE OR REPLACE FUNCTION pgrecall.added_score(vector tsvector, word_count integer, reading pgrecall.lexical_query)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (reading).added IS NOT NULL THEN COALESCE(round((
    SELECT sum(p.part)
    FROM pgrecall.bm25_parts(vector, word_count, (reading).added, (reading).added_idfs, (reading).impacts) p
)::numeric, 9)::double precision, 0) END;

COMMENT ON FUNCTION pgrecall.added_score IS
    'What added words give of the BM25 score of one memory; NULL where none was added.';
