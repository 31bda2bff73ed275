-- Returns a digest of a memory's state for offline copies: equal digests, equal states.
--
-- Independent of the session's time zone and of embeddings. Every change sets updated_at to its own time, except that import_rows()
-- takes the time of the source, which can be the same after a change; the fingerprint of the row is another then.
CREATE OR REPLACE FUNCTION _pgrecall.memory_digest(memory pgrecall.memories)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN md5(concat_ws(
    '.', encode(timestamptz_send((memory).updated_at), 'hex'), (memory).superseded_by, (memory).is_sensitive,
    encode((memory).content_hash, 'hex'), (memory).metadata #>> '{imported_from,fingerprint}'
));
