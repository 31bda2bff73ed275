-- Adds a manual alias to a concept. It is never removed automatically.
--
-- Errors  22023 the name is empty after normalising, or too long;  23505 it belongs to another concept;
--         42704 no such concept;  55P03 names in use
CREATE OR REPLACE FUNCTION pgrecall.add_alias(concept_id bigint, name text)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    normal text := pgrecall.normalize_name(left(add_alias.name, 201));
    home integer;
    owner bigint;
BEGIN
    IF COALESCE(normal, '') = '' OR length(normal) > 200 OR length(add_alias.name) > 200 THEN
        RAISE EXCEPTION 'this is not a valid concept name'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'It needs a letter or a digit, and at most 200 characters.';
    END IF;
    home := _pgrecall.concept_namespace(add_alias.concept_id);
    SELECT a.concept_id INTO owner FROM pgrecall.concept_aliases a WHERE a.namespace_id = home AND a.alias = normal;
    IF owner IS NULL THEN
        INSERT INTO pgrecall.concept_aliases (namespace_id, alias, concept_id, name, is_manual)
        VALUES (home, normal, add_alias.concept_id, add_alias.name, true);
        UPDATE pgrecall.concepts c SET resolved_at = NULL WHERE c.id = add_alias.concept_id;
    ELSIF owner <> add_alias.concept_id THEN
        RAISE EXCEPTION 'the name belongs to concept %', owner
            USING ERRCODE = 'unique_violation',
                  HINT = format('If both mean the same, merge them: pgrecall.merge_concepts(%s, %s).', owner, add_alias.concept_id);
    ELSE
        UPDATE pgrecall.concept_aliases a SET is_manual = true WHERE a.namespace_id = home AND a.alias = normal;
    END IF;
END
$function$;

ALTER FUNCTION pgrecall.add_alias OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.add_alias TO pgrecall_writer;
