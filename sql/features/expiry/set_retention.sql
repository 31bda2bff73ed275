-- Sets how long the memories of a namespace, or of a category in it, are kept, and whether they are then forgotten or
-- erased. Administrators only.
--
-- The daemon forgets or erases what is older (expire_memories). For one category it overrides the namespace's own.
--
-- keep      counted from created_at; NULL removes the rule
-- category  only this category; NULL: all categories without a rule of their own
-- action    'forget' keeps a tombstone, for restore(); 'erase' deletes permanently, forgotten memories too. It also applies to
--           memories whose expires_at has come
--
-- Errors  42704 no such namespace;  22023 keep is not positive or too long, or no such action;  54000 category too long
CREATE OR REPLACE FUNCTION pgrecall.set_retention(
    namespace text, keep interval, category text DEFAULT NULL, action text DEFAULT 'forget'
)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    home CONSTANT integer := _pgrecall.known_namespace(pgrecall.namespace_name(set_retention.namespace));
BEGIN
    IF keep <= interval '0' THEN
        RAISE EXCEPTION 'keep must be longer than 0, not %', keep
            USING ERRCODE = 'invalid_parameter_value', HINT = 'NULL removes the rule; erase_namespace() removes the memories.';
    ELSIF keep > interval '1000 years' THEN
        RAISE EXCEPTION 'keep must be at most 1000 years, not %', keep
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Without a rule memories are kept for ever: NULL removes it.';
    ELSIF action IS NULL OR action NOT IN ('forget', 'erase') THEN
        RAISE EXCEPTION 'action must be forget or erase'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'forget keeps a tombstone, erase deletes permanently.';
    END IF;
    IF octet_length(category) > 1024 THEN
        RAISE EXCEPTION 'category has % bytes; 1024 is the limit', octet_length(category)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'No memory has such a category.';
    END IF;
    IF keep IS NULL THEN
        DELETE FROM pgrecall.retention r
        WHERE r.namespace_id = home AND r.category IS NOT DISTINCT FROM set_retention.category;
    ELSE
        INSERT INTO pgrecall.retention (namespace_id, category, keep, action)
        VALUES (home, set_retention.category, set_retention.keep, set_retention.action)
        ON CONFLICT ON CONSTRAINT retention_key DO UPDATE SET keep = excluded.keep, action = excluded.action;
    END IF;
END
$function$;

ALTER FUNCTION pgrecall.set_retention OWNER TO pgrecall_engine;
