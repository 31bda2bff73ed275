-- Tells whether a memory is over at some time: superseded, expired, or no longer valid. NULL as the time: false.
--
-- The postings of such memories are kept apart (is_past). recall omits them, unless it is asked for the past.
CREATE OR REPLACE FUNCTION _pgrecall.is_past(memory pgrecall.memories, moment timestamptz)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN moment IS NOT NULL
   AND (memory.superseded_by IS NOT NULL OR COALESCE(LEAST(memory.valid_to, memory.expires_at) <= moment, false));
