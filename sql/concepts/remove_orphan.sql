-- Removes a name that no memory mentions and no relationship was stated with; returns its concept, NULL if it stays.
--
-- A name given by hand stays. What merges and splits say of the name goes with it: no trace of it is left. The concept is
-- looked after by pgrecall.settle_concept. See pgrecall.settle_names for the locks.
CREATE OR REPLACE FUNCTION pgrecall.remove_orphan(namespace_id integer, alias text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    owner bigint;
BEGIN
    SELECT a.concept_id INTO owner FROM pgrecall.concept_aliases a
    WHERE a.namespace_id = remove_orphan.namespace_id AND a.alias = remove_orphan.alias AND NOT a.is_manual
    FOR NO KEY UPDATE;
    IF owner IS NULL OR pgrecall.is_used(owner, remove_orphan.alias) THEN
        RETURN NULL;
    END IF;
    -- Lock first, look again afterwards: a writer who has just mentioned it is waited for and then seen.
    SELECT a.concept_id INTO owner FROM pgrecall.concept_aliases a
    WHERE a.namespace_id = remove_orphan.namespace_id AND a.alias = remove_orphan.alias AND NOT a.is_manual
    FOR UPDATE;
    IF owner IS NULL OR pgrecall.is_used(owner, remove_orphan.alias) THEN
        RETURN NULL;
    END IF;
    DELETE FROM pgrecall.concept_aliases a
    WHERE a.namespace_id = remove_orphan.namespace_id AND a.alias = remove_orphan.alias;
    RETURN owner;
END
$function$;

COMMENT ON FUNCTION pgrecall.remove_orphan IS 'Removes a name that nothing mentions any more; returns its concept.';
