-- Removes a manual alias; returns whether it is gone. An alias that memories mention stays as an ordinary one.
--
-- A concept is removed with its last alias.
--
-- Errors  22023 no such manual alias;  42704 no such concept;  55P03 names in use
CREATE OR REPLACE FUNCTION pgrecall.remove_alias(concept_id bigint, name text)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    normal text := pgrecall.normalize_name(left(remove_alias.name, 201));
    home integer := _pgrecall.concept_namespace(remove_alias.concept_id);
BEGIN
    UPDATE pgrecall.concept_aliases a SET is_manual = false
    WHERE a.namespace_id = home AND a.alias = normal AND a.concept_id = remove_alias.concept_id AND a.is_manual;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'concept % has no such manual alias', concept_id
            USING ERRCODE = 'invalid_parameter_value', HINT = 'To remove a name that came with a merge, use pgrecall.split_concept().';
    END IF;
    PERFORM _pgrecall.upsert_concepts('{}', ARRAY[ROW (home, normal, NULL)::pgrecall.naming]);
    RETURN NOT EXISTS (SELECT FROM pgrecall.concept_aliases a WHERE a.namespace_id = home AND a.alias = normal);
END
$function$;

ALTER FUNCTION pgrecall.remove_alias OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.remove_alias TO pgrecall_writer;
