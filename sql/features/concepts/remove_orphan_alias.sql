-- Removes an alias without mentions or relationships; returns its concept, or NULL if it stays.
--
-- A manual alias stays. Records of merges and splits of the name are removed too. _pgrecall.repair_concept cleans up
-- the concept. See _pgrecall.upsert_concepts for the locks.
CREATE OR REPLACE FUNCTION _pgrecall.remove_orphan_alias(namespace_id integer, alias text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    owner record;
BEGIN
    SELECT a.concept_id, a.id INTO owner FROM pgrecall.concept_aliases a
    WHERE a.namespace_id = remove_orphan_alias.namespace_id AND a.alias = remove_orphan_alias.alias AND NOT a.is_manual
    FOR NO KEY UPDATE;
    IF owner.id IS NULL OR _pgrecall.is_alias_used(owner.concept_id, owner.id) THEN
        RETURN NULL;
    END IF;
    -- Lock, then check again: this waits for a writer that has just mentioned the name, and then sees the mention.
    SELECT a.concept_id, a.id INTO owner FROM pgrecall.concept_aliases a
    WHERE a.namespace_id = remove_orphan_alias.namespace_id AND a.alias = remove_orphan_alias.alias AND NOT a.is_manual
    FOR UPDATE;
    IF owner.id IS NULL OR _pgrecall.is_alias_used(owner.concept_id, owner.id) THEN
        RETURN NULL;
    END IF;
    IF current_setting('transaction_isolation') = 'read committed' THEN
        DELETE FROM pgrecall.concept_aliases a WHERE a.concept_id = owner.concept_id AND a.id = owner.id;
    ELSE
        BEGIN
            DELETE FROM pgrecall.concept_aliases a WHERE a.concept_id = owner.concept_id AND a.id = owner.id;
        EXCEPTION
            WHEN foreign_key_violation THEN
                RETURN NULL;  -- in use, by what an older snapshot does not show
        END;
    END IF;
    RETURN owner.concept_id;
END
$function$;
