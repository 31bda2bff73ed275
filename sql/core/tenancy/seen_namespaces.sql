-- Returns the ids of namespaces by their names, in their order. NULL stands for one that the session's role does not see, of which
-- a notice tells; whether it exists, the notice does not tell. NULL for NULL.
CREATE OR REPLACE FUNCTION _pgrecall.seen_namespaces(names text[])
RETURNS integer[]
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
DECLARE
    ids CONSTANT integer[] := ARRAY(
        SELECT pgrecall.namespace_id(n.name) FROM unnest(names) WITH ORDINALITY n (name, place) ORDER BY n.place
    );
    unseen text;
BEGIN
    FOR unseen IN SELECT n.name FROM unnest(names, ids) n (name, id) WHERE n.id IS NULL LOOP
        RAISE NOTICE 'there is no namespace "%" for this role', left(unseen, 200);
    END LOOP;
    RETURN ids;
END
$function$;
