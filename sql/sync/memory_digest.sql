-- What tells one state of a memory from another, for copies of it outside: the same text, the same state.
--
-- The same whatever the session's time zone. An embedding that is written changes nothing.
CREATE OR REPLACE FUNCTION _pgrecall.memory_digest(memory pgrecall.memories)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN md5(concat_ws(
    '.', encode(timestamptz_send((memory).updated_at), 'hex'), (memory).superseded_by, (memory).is_sensitive,
    encode((memory).content_hash, 'hex')
));

COMMENT ON FUNCTION _pgrecall.memory_digest IS 'What tells one state of a memory from another, for copies of it outside.';
