-- Sets what is done with memories of a namespace that hold a secret, such as a key or a password: 'refuse', 'redact', 'sensitive' or
-- 'allow'. Administrators only.
--
-- It applies to what is stored from then on, by whichever client; scan_secrets() applies it to what is there. NULL takes
-- what the settings secrets and secrets_in_messages say for the database.
--
-- policy       'refuse' raises an error, 'redact' puts a marker in place of the secret, 'sensitive' stores the memory as sensitive,
--              'allow' stores it as it is. The kinds found in what is stored are counted whatever is done
-- in_messages  the same for messages of conversations (remember_messages), which captures and imports of transcripts store
--
-- Errors  42704 no such namespace;  22023 no such policy
CREATE OR REPLACE FUNCTION pgrecall.set_secrets(namespace text, policy text DEFAULT NULL, in_messages text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    home CONSTANT integer := _pgrecall.known_namespace(pgrecall.namespace_name(set_secrets.namespace));
BEGIN
    IF NOT (
        COALESCE(pgrecall.is_valid_setting('secrets', policy), true)
        AND COALESCE(pgrecall.is_valid_setting('secrets_in_messages', in_messages), true)
    ) THEN
        RAISE EXCEPTION 'a policy for secrets is refuse, redact, sensitive or allow'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'NULL takes that of the database.';
    END IF;
    UPDATE pgrecall.namespaces n
    SET secrets = set_secrets.policy, secrets_in_messages = set_secrets.in_messages
    WHERE n.id = home;
END
$function$;

ALTER FUNCTION pgrecall.set_secrets OWNER TO pgrecall_engine;
