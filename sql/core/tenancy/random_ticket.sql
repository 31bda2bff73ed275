-- Returns an unguessable number: a claim hands it out, and completing the claim requires it.
CREATE OR REPLACE FUNCTION _pgrecall.random_ticket()
RETURNS bigint
LANGUAGE sql VOLATILE
-- 59 random bits, at most 18 digits; some bits of a UUID are constant.
RETURN ('x' || encode(substr(sha256(uuid_send(gen_random_uuid())), 1, 8), 'hex'))::bit(64)::bigint & 576460752303423487;
