-- Combines ts_rank and importance into one score: (1 - share) * ts_rank + share * importance. The profile service gives
-- importance a share of 0.6.
CREATE OR REPLACE FUNCTION _pgrecall.ts_rank_score(
    vector tsvector, importance real, query tsquery, importance_share double precision
)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (1 - importance_share) * ts_rank(vector, query) + importance_share * importance;
