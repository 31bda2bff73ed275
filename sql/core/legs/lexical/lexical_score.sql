-- Returns the lexical leg's exact score of a memory, whichever leg found it, and the part of expansion terms in it.
--
-- It is the score that lexical_leg() gives it; 0 if it does not match.
--
-- A set of one row, because the planner would not inline a function that returns a sum.
--
-- vector, word_count, importance  of the memory; no whole row, whose embedding would be read
-- parsed           from parse_query()
--
-- expansion_score  the part that comes from expansion terms; NULL without them, 0 without a match
CREATE OR REPLACE FUNCTION _pgrecall.lexical_score(
    vector tsvector, word_count integer, importance real, parsed pgrecall.parsed_query
)
RETURNS TABLE (score double precision, expansion_score double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT CASE
               -- Most candidates of the other legs hold none of the words; this test is cheap.
               WHEN vector @@ (parsed).any_word AND ((parsed).required IS NULL OR vector @@ (parsed).required)
                   THEN COALESCE(_pgrecall.round_score((
                       SELECT sum(p.part)
                       FROM _pgrecall.bm25_parts(vector, word_count, (parsed).words, (parsed).idfs, (parsed).impacts) p
                   )), 0)
               WHEN vector @@ (parsed).narrow
                   THEN _pgrecall.ts_rank_score(vector, importance, (parsed).narrow, (parsed).importance_share)
               WHEN vector @@ (parsed).broad AND ts_rank(vector, (parsed).broad) >= (parsed).min_rank
                   THEN _pgrecall.ts_rank_score(vector, importance, (parsed).broad, (parsed).importance_share)
               ELSE 0
           END,
           CASE WHEN (parsed).added IS NOT NULL THEN COALESCE(_pgrecall.round_score(
               _pgrecall.bm25_score(vector, word_count, (parsed).added, (parsed).added_idfs, (parsed).impacts)
           ), 0) END;
END;
