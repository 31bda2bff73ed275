-- Returns one concept with its names, counts, dates and merges; no row if it does not exist or belongs to another tenant.
CREATE OR REPLACE FUNCTION pgrecall.show_concept(id bigint)
RETURNS SETOF pgrecall.concept_overview
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN QUERY SELECT o.* FROM pgrecall.concept_overview o WHERE o.id = (SELECT _pgrecall.seen_id('concept', show_concept.id));
END
$function$;

ALTER FUNCTION pgrecall.show_concept OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.show_concept TO pgrecall_reader;
