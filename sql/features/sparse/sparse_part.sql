-- Returns what the sparse terms contribute to a memory's relevance (leg_contribution). A memory without terms counts by its words.
--
-- score, norm   of the memory, and the score that counts in full;  lexical_share  its lexical score, as a share of what counts in full
CREATE OR REPLACE FUNCTION _pgrecall.sparse_part(
    weight double precision, total_weight double precision, score double precision, norm double precision,
    lexical_share double precision
)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN _pgrecall.leg_contribution('cc', weight, total_weight, NULL, least(COALESCE(score / norm, lexical_share), 1), NULL);
