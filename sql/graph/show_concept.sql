-- One concept, as concept_overview has it; no row where it does not exist or is another tenant's.
CREATE OR REPLACE FUNCTION pgrecall.show_concept(id bigint)
RETURNS SETOF pgrecall.concept_overview
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN QUERY SELECT o.* FROM pgrecall.concept_overview o WHERE o.id = show_concept.id;
END
$function$;

COMMENT ON FUNCTION pgrecall.show_concept IS
    'One concept with its names, how many memories mention it or are about it, since when, and what was merged into it.';

ALTER FUNCTION pgrecall.show_concept OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.show_concept TO pgrecall_reader;
