-- A number that nobody can guess: what a claim gives out, and what its answer has to bring back.
CREATE OR REPLACE FUNCTION _pgrecall.random_ticket()
RETURNS bigint
LANGUAGE sql VOLATILE
-- 59 random bits, which are 18 digits at most: some of a UUID's are always the same.
RETURN ('x' || encode(substr(sha256(uuid_send(gen_random_uuid())), 1, 8), 'hex'))::bit(64)::bigint & 576460752303423487;

COMMENT ON FUNCTION _pgrecall.random_ticket IS 'A number that nobody can guess, for a claim.';
