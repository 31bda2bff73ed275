-- Returns the namespace of a concept and takes its exclusive alias lock.
--
-- The lock (_pgrecall.lock_aliases_exclusive) lasts until the transaction ends.
--
-- Errors  42704 no such concept;  55P03 its namespace is in use
CREATE OR REPLACE FUNCTION _pgrecall.concept_namespace(concept_id bigint)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    seen CONSTANT bigint := _pgrecall.seen_id('concept', concept_namespace.concept_id);
    home integer;
BEGIN
    SELECT c.namespace_id INTO home FROM pgrecall.concepts c WHERE c.id = seen;
    PERFORM _pgrecall.lock_aliases_exclusive(home) WHERE home IS NOT NULL;
    IF NOT EXISTS (SELECT FROM pgrecall.concepts c WHERE c.id = seen) THEN
        RAISE EXCEPTION 'there is no concept %', concept_id
            USING ERRCODE = 'undefined_object', HINT = 'pgrecall.find_concept() looks one up by its name.';
    END IF;
    RETURN home;
END
$function$;
