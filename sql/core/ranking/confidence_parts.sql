-- Returns what each piece of evidence adds to the confidence in a memory: log odds, whose sum is that of the confidence.
--
-- The coefficients are a logistic regression's (docs/adr/0023); contradiction is set by hand, for data sets have few versions.
--
-- evidence         its lexical score without pronouns: rare words count more than frequent ones, and in a small namespace no word is rare
-- firm             firm_bm25(): the evidence of a memory with every word of the query; the share is that of both
-- lead             how far its relevance is above the mean of the second to tenth best, as a share of the highest possible one
-- has_vector       whether the query has a vector; without one, matching words are less of an answer
-- is_contradicted  the memory states another value than the query (is_contradicted)
CREATE OR REPLACE FUNCTION _pgrecall.confidence_parts(
    evidence double precision, firm double precision, lead double precision, has_vector boolean, is_contradicted boolean
)
RETURNS TABLE (
    base double precision, share double precision, evidence double precision, lead double precision, contradiction double precision
)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT CASE WHEN has_vector THEN -4.0 ELSE -5.6 END::double precision,
           1.5 * least(greatest(COALESCE(confidence_parts.evidence / confidence_parts.firm, 0), 0), 1),
           CASE WHEN has_vector THEN 0.04 ELSE 0.08 END * least(greatest(COALESCE(confidence_parts.evidence, 0), 0), 25),
           6.7 * confidence_parts.lead,
           CASE WHEN is_contradicted THEN -4 ELSE 0 END::double precision;
END;
