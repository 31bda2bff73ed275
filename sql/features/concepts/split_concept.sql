-- Undoes a merge: its aliases that still exist become a separate concept again. Returns its id.
--
-- Their mentions and relationships move with them, as do earlier merges of these aliases. Later merges stay. Only a
-- manual merge can merge the two again.
--
-- Errors  42704 no such merge, or it was already undone;  55P03 names in use
CREATE OR REPLACE FUNCTION pgrecall.split_concept(merge_id bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    seen CONSTANT bigint := _pgrecall.seen_id('merge', merge_id);
    merge record;
    own record;
    made bigint;
BEGIN
    PERFORM _pgrecall.lock_aliases_exclusive(g.namespace_id) FROM pgrecall.concept_merges g WHERE g.id = seen;
    -- Lock after the aliases, as every writer does.
    PERFORM _pgrecall.lock_relationships(ARRAY[g.namespace_id]) FROM pgrecall.concept_merges g WHERE g.id = seen;
    SELECT g.* INTO merge FROM pgrecall.concept_merges g WHERE g.id = seen AND g.split_at IS NULL;
    IF merge.id IS NULL THEN
        RAISE EXCEPTION 'there is no merge % to undo', merge_id
            USING ERRCODE = 'undefined_object', HINT = 'pgrecall.concept_overview lists the merges that can be undone.';
    END IF;
    SELECT a.name INTO own FROM pgrecall.concept_aliases a WHERE a.namespace_id = merge.namespace_id AND a.alias = merge.key;

    -- If the remaining concept uses a moving alias as its name, restore its own.
    UPDATE pgrecall.concepts c SET key = a.alias, name = a.name, resolved_at = NULL
    FROM pgrecall.concept_aliases a
    WHERE c.id = merge.concept_id AND c.key = ANY (merge.aliases)
      AND a.namespace_id = merge.namespace_id AND a.alias = merge.into_key;
    INSERT INTO pgrecall.concepts AS c (namespace_id, key, name, type)
    VALUES (merge.namespace_id, merge.key, own.name, merge.type)
    RETURNING c.id INTO made;
    UPDATE pgrecall.concept_aliases a SET concept_id = made
    WHERE a.namespace_id = merge.namespace_id AND a.alias = ANY (merge.aliases);

    -- Earlier merges of these aliases move with them; later merges that included them lose them.
    UPDATE pgrecall.concept_merges g SET concept_id = made
    WHERE g.concept_id = merge.concept_id AND g.split_at IS NULL AND g.id < merge.id AND g.aliases <@ merge.aliases;
    UPDATE pgrecall.concept_merges g SET split_at = now(), aliases = ARRAY[g.key] WHERE g.id = merge.id;
    PERFORM _pgrecall.repair_concept(c.id, '{}') FROM (VALUES (made), (merge.concept_id)) c (id);
    PERFORM _pgrecall.refresh_concept_type(made);
    PERFORM _pgrecall.refresh_concept_type(merge.concept_id);
    PERFORM _pgrecall.refresh_relationships(array_agg(r.id))
    FROM pgrecall.relationships r
    WHERE r.source_id IN (made, merge.concept_id) OR r.target_id IN (made, merge.concept_id);
    RETURN made;
END
$function$;

ALTER FUNCTION pgrecall.split_concept OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.split_concept TO pgrecall_writer;
