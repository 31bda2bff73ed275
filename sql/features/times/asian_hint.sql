-- Returns a regular expression for a letter of a language of asian_time_phrases().
CREATE OR REPLACE FUNCTION _pgrecall.asian_hint()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '[\u0620-\u064a\u0904-\u0939\u0e01-\u0e2e\u3041-\u9fff\uac00-\ud7a3]';
