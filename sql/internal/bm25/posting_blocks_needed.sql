-- How many blocks of a term hold a budget of postings, or all of them.
--
-- A block has at least 64, but for 16 of a term and for what a bulk load may just have added to those.
CREATE OR REPLACE FUNCTION _pgrecall.posting_blocks_needed(budget integer)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN budget / 64 + 32;

COMMENT ON FUNCTION _pgrecall.posting_blocks_needed IS 'How many blocks of a term hold a budget of postings, or all of them.';
