-- Returns the external_id of a note: a hash of its session and text.
--
-- content  without its secrets, as for message_key()
CREATE OR REPLACE FUNCTION _pgrecall.note_key(session text, content text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN 'note:' || encode(sha256(convert_to(jsonb_build_array(session, lower(content))::text, 'UTF8')), 'hex');
