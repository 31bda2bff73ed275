-- Sets what is done with memories of a namespace that hold a secret, such as a key or a password: 'refuse', 'redact', 'sensitive' or
-- 'allow'. Administrators only.
--
-- It applies to what is stored from then on, by whichever client; scan_secrets() applies it to what is there. 'default' takes
-- what the settings secrets and secrets_in_messages say for the database; NULL leaves as it is what was set before.
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
SET debug_print_plan = off
AS $function$
DECLARE
    home CONSTANT integer := _pgrecall.known_namespace(pgrecall.namespace_name(set_secrets.namespace));
BEGIN
    IF NOT (
        COALESCE(pgrecall.is_valid_setting('secrets', NULLIF(policy, 'default')), true)
        AND COALESCE(pgrecall.is_valid_setting('secrets_in_messages', NULLIF(in_messages, 'default')), true)
    ) THEN
        RAISE EXCEPTION 'a policy for secrets is refuse, redact, sensitive or allow'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Pass one of them, ''default'' for that of the database, or NULL to leave it as it is.';
    END IF;
    UPDATE pgrecall.namespaces n
    SET secrets = NULLIF(COALESCE(set_secrets.policy, n.secrets), 'default'),
        secrets_in_messages = NULLIF(COALESCE(set_secrets.in_messages, n.secrets_in_messages), 'default')
    WHERE n.id = home;
END
$function$;

ALTER FUNCTION pgrecall.set_secrets OWNER TO pgrecall_engine;
