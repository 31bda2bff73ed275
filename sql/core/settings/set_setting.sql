-- Stores a setting for the whole database; NULL restores the default. What a session, role or database SETs as
-- pgrecall.<name> takes precedence.
--
-- name   as in pgrecall.setting_definitions, without the prefix pgrecall.
-- value  NULL or '' restores the default
--
-- Errors  22023 no such setting, or the setting does not accept the value;  55006 the postings are being written
CREATE OR REPLACE FUNCTION pgrecall.set_setting(name text, value text)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    definition record;
    recipe text := _pgrecall.embedding_recipe();
    impacts pgrecall.bm25_parameters := _pgrecall.bm25_parameters();
BEGIN
    SELECT d.* INTO definition FROM pgrecall.setting_definitions d WHERE d.name = set_setting.name;
    IF definition IS NULL THEN
        PERFORM _pgrecall.raise_unknown_setting(set_setting.name);
    ELSIF NULLIF(value, '') IS NULL THEN
        DELETE FROM pgrecall.settings s WHERE s.name = set_setting.name;
    ELSE
        INSERT INTO pgrecall.settings AS s (name, value) VALUES (set_setting.name, set_setting.value)
        ON CONFLICT ON CONSTRAINT settings_pkey DO UPDATE SET value = excluded.value, updated_at = now();
    END IF;

    -- The recipe is part of every content_hash, so the trigger clears every embedding.
    IF _pgrecall.embedding_recipe() <> recipe THEN
        -- In the order of ids, as every writer of several memories.
        PERFORM FROM pgrecall.memories m ORDER BY m.id FOR NO KEY UPDATE;
        UPDATE pgrecall.memories m SET expanded_keywords = m.expanded_keywords;
    END IF;
    IF _pgrecall.bm25_parameters() IS DISTINCT FROM impacts
       AND NOT (SELECT COALESCE(bool_and(_pgrecall.rebuild_postings(n.id)), true) FROM pgrecall.namespaces n) THEN
        RAISE EXCEPTION '% cannot change now: another transaction is writing postings', set_setting.name
            USING ERRCODE = 'object_in_use', HINT = 'Try again after bulk loads, in a read committed transaction.';
    END IF;
END
$function$;

ALTER FUNCTION pgrecall.set_setting OWNER TO pgrecall_engine;
