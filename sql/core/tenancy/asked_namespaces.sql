-- Returns the names of the namespaces of a call that reads several, each once, in their order. NULL: the call reads one namespace.
--
-- namespace   the call's argument: a call that names one reads one
-- namespaces  the call's argument; empty: none; NULL: the setting pgrecall.namespaces, unless namespace is given
--
-- Errors  22023 a name is NULL, both are given, or the setting is no array;  54000 more than 100
CREATE OR REPLACE FUNCTION _pgrecall.asked_namespaces(namespace text, namespaces text[])
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    stored text;
    names text[] := namespaces;
BEGIN
    IF namespaces IS NULL AND namespace IS NOT NULL THEN
        RETURN NULL;
    ELSIF namespaces IS NULL THEN
        stored := COALESCE(
            NULLIF(current_setting('pgrecall.namespaces', true), ''), (SELECT s.value FROM pgrecall.settings s WHERE s.name = 'namespaces')
        );
        IF stored IS NULL OR stored = '' THEN
            RETURN NULL;
        END IF;
        -- Before the cast, whose error would not name the setting. A block that catches it would forbid parallel plans.
        IF NOT pgrecall.is_valid_setting('namespaces', stored) THEN
            PERFORM _pgrecall.raise_invalid_setting('namespaces', stored);
        END IF;
        names := stored::text[];
    ELSIF namespace IS NOT NULL THEN
        RAISE EXCEPTION 'a call takes namespace or namespaces, not both'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Name all of them in namespaces.';
    END IF;
    IF EXISTS (SELECT FROM unnest(names) n (name) WHERE n.name IS NULL) THEN
        RAISE EXCEPTION 'a name in namespaces is NULL'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out; pgrecall.namespace_name(NULL) is the name of the default.';
    ELSIF cardinality(names) > 100 THEN
        RAISE EXCEPTION '% namespaces are too many; 100 is the limit', cardinality(names)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Ask for fewer at a time.';
    END IF;
    RETURN ARRAY(
        SELECT n.name FROM unnest(names) WITH ORDINALITY n (name, place) GROUP BY n.name ORDER BY min(n.place)
    );
END
$function$;
