-- Returns how many blocks of a term hold a given number of postings, or all of them.
--
-- A block has at least 64 postings. Exceptions are up to 16 blocks per term and blocks that a bulk load just added.
CREATE OR REPLACE FUNCTION _pgrecall.posting_blocks_needed(budget integer)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN budget / 64 + 32;
