-- Removes a name that no memory mentions and no relationship was stated with; returns its concept, NULL if it stays.
--
-- A name given by hand stays. What merges and splits say of the name goes with it: no trace of it is left. The concept is
-- looked after by _pgrecall.repair_concept. See _pgrecall.upsert_concepts for the locks.
CREATE OR REPLACE FUNCTION _pgrecall.remove_orphan_alias(namespace_id integer, alias text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    owner bigint;
BEGIN
    SELECT a.concept_id INTO owner FROM pgrecall.concept_aliases a
    WHERE a.namespace_id = remove_orphan_alias.namespace_id AND a.alias = remove_orphan_alias.alias AND NOT a.is_manual
    FOR NO KEY UPDATE;
    IF owner IS NULL OR _pgrecall.is_alias_used(owner, remove_orphan_alias.alias) THEN
        RETURN NULL;
    END IF;
    -- Lock first, look again afterwards: a writer who has just mentioned it is waited for and then seen.
    SELECT a.concept_id INTO owner FROM pgrecall.concept_aliases a
    WHERE a.namespace_id = remove_orphan_alias.namespace_id AND a.alias = remove_orphan_alias.alias AND NOT a.is_manual
    FOR UPDATE;
    IF owner IS NULL OR _pgrecall.is_alias_used(owner, remove_orphan_alias.alias) THEN
        RETURN NULL;
    END IF;
    DELETE FROM pgrecall.concept_aliases a
    WHERE a.namespace_id = remove_orphan_alias.namespace_id AND a.alias = remove_orphan_alias.alias;
    RETURN owner;
END
$function$;

COMMENT ON FUNCTION _pgrecall.remove_orphan_alias IS 'Removes a name that nothing mentions any more; returns its concept.';
