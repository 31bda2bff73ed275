-- Returns the pronouns among a query's words, with their idfs and the sum of these; NULL without any.
--
-- Pronouns match nearly everything that a user has said, in a small namespace even with a high idf: the confidence leaves out what
-- they add to a score (bm25_score, firm_bm25).
CREATE OR REPLACE FUNCTION _pgrecall.pronouns_of(parsed pgrecall.parsed_query)
RETURNS TABLE (words text[], idfs double precision[], weight double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT array_agg(w.word), array_agg(w.idf), sum(w.idf)
    FROM unnest((parsed).words, (parsed).idfs) w (word, idf)
    WHERE w.word = ANY (_pgrecall.pronoun_lexemes());
END;
