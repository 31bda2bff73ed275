-- Puts the new name of a namespace into the stored settings that name it, namespace and namespaces, or takes it out of them.
-- Returns how many have changed.
--
-- new_name  NULL: the namespace goes
CREATE OR REPLACE FUNCTION _pgrecall.rename_stored_default(name text, new_name text)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    item record;
    names text[];
    number integer := 0;
BEGIN
    FOR item IN
        -- A list that an older version stored and that is none names nothing.
        SELECT s.name, s.value FROM pgrecall.settings s
        WHERE s.name IN ('namespace', 'namespaces') AND pgrecall.is_valid_setting(s.name, s.value)
    LOOP
        names := CASE item.name WHEN 'namespace' THEN ARRAY[item.value] ELSE item.value::text[] END;
        CONTINUE WHEN array_position(names, rename_stored_default.name) IS NULL;
        names := CASE WHEN new_name IS NULL THEN array_remove(names, rename_stored_default.name)
                      ELSE array_replace(names, rename_stored_default.name, new_name) END;
        PERFORM pgrecall.set_setting(
            item.name, CASE item.name WHEN 'namespace' THEN names[1] ELSE NULLIF(names, '{}')::text END
        );
        number := number + 1;
    END LOOP;
    RETURN number;
END
$function$;
