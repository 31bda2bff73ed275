-- Returns what the external_id of a message begins with: a hash of its session, speaker and text.
--
-- content  without its secrets, whatever is done with them: a hash of a short password is as good as the password
CREATE OR REPLACE FUNCTION _pgrecall.message_key(session text, speaker text, content text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN 'message:' || encode(sha256(convert_to(jsonb_build_array(session, speaker, content)::text, 'UTF8')), 'hex');
