-- Returns what is done with a memory of a namespace that holds a secret: refuse, redact, sensitive or allow.
--
-- A message of a conversation, which remember_messages() stores, and a note of one have a policy of their own: a client that captures
-- what was said cannot be asked to say it otherwise. A note is neither refused, because nobody would hear of it, nor sensitive, because
-- the embedder that states it may store nothing that is: it is redacted instead. What is set for the namespace comes before the settings
-- secrets and secrets_in_messages of the database.
CREATE OR REPLACE FUNCTION _pgrecall.secrets_policy(namespace_id integer, external_id text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    -- The keys of note_key() and message_key(). An application may call its own memories note:1.
    is_note CONSTANT boolean := COALESCE(external_id ~ '^note:[0-9a-f]{64}', false);
    is_said CONSTANT boolean := is_note OR COALESCE(external_id ~ '^message:[0-9a-f]{64}', false);
    policy text;
BEGIN
    SELECT CASE WHEN is_said THEN n.secrets_in_messages ELSE n.secrets END INTO policy
    FROM pgrecall.namespaces n WHERE n.id = secrets_policy.namespace_id;
    policy := COALESCE(policy, pgrecall.stored_setting(CASE WHEN is_said THEN 'secrets_in_messages' ELSE 'secrets' END));
    RETURN CASE WHEN is_note AND policy IN ('refuse', 'sensitive') THEN 'redact' ELSE policy END;
END
$function$;
