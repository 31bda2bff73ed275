-- Runs erase() and erase_many() as pgrecall_engine, for memories in namespaces that the session's role may write.
--
-- Query caches belong to the roles that asked, and postings to no tenant: no other role may delete them. A receipt only counts
-- rows derived from the memory itself.
--
-- ids      one that is not there has no receipt; neither has one that went with another, as a note does with its messages
-- dry_run  roll back: the receipts show what would be deleted, and are not kept
--
-- Errors  42501 the role may not write the namespace of one
CREATE OR REPLACE FUNCTION _pgrecall.erase_granted(ids bigint[], dry_run boolean)
RETURNS SETOF pgrecall.erasures
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    asking CONSTANT regrole := pgrecall.session_role();
    homes integer[];
    home integer;
    one bigint;
    locked bigint[];
    receipt pgrecall.erasures;
    receipts pgrecall.erasures[] := '{}'::pgrecall.erasures[];
BEGIN
    SELECT array_agg(DISTINCT m.namespace_id ORDER BY m.namespace_id) INTO homes
    FROM pgrecall.memories m WHERE m.id = ANY (erase_granted.ids);
    PERFORM _pgrecall.raise_unknown_memory(m.id)
    FROM pgrecall.memories m
    WHERE m.id = ANY (erase_granted.ids) AND NOT _pgrecall.sees_namespace(asking, m.namespace_id, true);
    BEGIN
        -- In the order in which erase_memory_rows() locks, of all memories at once: two calls with the same wait.
        PERFORM _pgrecall.lock_postings(h.id) FROM unnest(homes) h (id);
        SELECT array_agg(l.id) INTO locked
        FROM (
            SELECT m.id FROM pgrecall.memories m
            WHERE m.namespace_id = ANY (homes) AND (
                m.id = ANY (erase_granted.ids) OR m.superseded_by = ANY (erase_granted.ids)
                OR m.id IN (SELECT e.note_id FROM pgrecall.note_evidence e WHERE e.memory_id = ANY (erase_granted.ids))
            )
            ORDER BY m.id FOR UPDATE
        ) l;
        IF cardinality(locked) > 1 THEN
            PERFORM _pgrecall.lock_names(locked);
        END IF;
        FOREACH one IN ARRAY erase_granted.ids LOOP
            SELECT m.namespace_id INTO home FROM pgrecall.memories m WHERE m.id = one AND m.namespace_id = ANY (homes);
            CONTINUE WHEN home IS NULL;
            receipt := _pgrecall.erase_memory_rows(home, one, asking::text);
            IF dry_run THEN
                receipt.id := NULL;
            END IF;
            receipts := receipts || receipt;
        END LOOP;
        IF dry_run THEN
            RAISE SQLSTATE 'PGR01';
        END IF;
    EXCEPTION
        WHEN SQLSTATE 'PGR01' THEN
            NULL;
    END;
    RETURN QUERY SELECT r.* FROM unnest(receipts) r;
END
$function$;

ALTER FUNCTION _pgrecall.erase_granted OWNER TO pgrecall_engine;
