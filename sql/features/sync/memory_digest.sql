-- Returns a digest of a memory's state for offline copies: equal digests, equal states.
--
-- Independent of the session's time zone and of embeddings.
CREATE OR REPLACE FUNCTION _pgrecall.memory_digest(memory pgrecall.memories)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN md5(concat_ws(
    '.', encode(timestamptz_send((memory).updated_at), 'hex'), (memory).superseded_by, (memory).is_sensitive,
    encode((memory).content_hash, 'hex')
));
