-- The share of their words that two memories have in common, 0 to 1: Jaccard's index of their lexemes.
CREATE OR REPLACE FUNCTION pgrecall.word_overlap(one tsvector, other tsvector)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT count(*) / greatest(length(one) + length(other) - count(*), 1)::double precision
    FROM unnest(tsvector_to_array(one)) w
    WHERE w = ANY (tsvector_to_array(other))
);

COMMENT ON FUNCTION pgrecall.word_overlap IS 'The share of their words that two memories have in common, 0 to 1 (Jaccard).';
