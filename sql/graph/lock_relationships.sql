-- Takes the right to write namespaces' relationships until the transaction ends; waits for whoever has it.
--
-- What holds when follows from all that was stated of a subject, whoever is storing it: two writers who do not see each
-- other would both miss a contradiction. To be taken after _pgrecall.lock_aliases_shared or lock_aliases_exclusive, and before a name or a row of
-- pgrecall.extractions is locked: whoever removes evidence may wait for those while it has this.
CREATE OR REPLACE FUNCTION _pgrecall.lock_relationships(namespace_ids integer[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    namespace_id integer;
BEGIN
    FOR namespace_id IN SELECT DISTINCT u.id FROM unnest(namespace_ids) u (id) ORDER BY u.id LOOP
        PERFORM FROM pgrecall.locks l WHERE l.home = namespace_id AND l.name = 'facts' FOR UPDATE;
    END LOOP;
END
$function$;

COMMENT ON FUNCTION _pgrecall.lock_relationships IS
    'Takes the right to write namespaces'' relationships until the transaction ends; waits for whoever has it.';
