-- Erases a namespace with all its rows, writes the receipt, and returns it.
--
-- The caller _pgrecall.erase_namespace_granted() has checked the role. Referring tables are deleted first.
--
-- Errors  42704 no such namespace
CREATE OR REPLACE FUNCTION _pgrecall.erase_namespace_rows(namespace_id integer, role text)
RETURNS pgrecall.erasures
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    home CONSTANT integer := erase_namespace_rows.namespace_id;
    counts jsonb;
    part record;
    gone bigint;
    receipt pgrecall.erasures;
BEGIN
    PERFORM _pgrecall.lock_postings(home);
    -- In the order of those who change a memory: its row, then, through foreign keys, the namespace, and names. The namespace waits
    -- for who is storing new memories; those are locked in a second pass.
    PERFORM FROM pgrecall.memories m WHERE m.namespace_id = home ORDER BY m.id FOR UPDATE;
    PERFORM FROM pgrecall.namespaces n WHERE n.id = home FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no namespace %', COALESCE(home::text, 'NULL')
            USING ERRCODE = 'undefined_object', HINT = 'Check the name; another session may have erased it.';
    END IF;
    PERFORM FROM pgrecall.memories m WHERE m.namespace_id = home ORDER BY m.id FOR UPDATE;
    PERFORM _pgrecall.lock_aliases_exclusive(home);
    PERFORM _pgrecall.lock_relationships(ARRAY[home]);
    counts := _pgrecall.clear_query_caches(home);
    -- A table before those that it refers to. Memories before the rest: triggers note in the postings that they are gone.
    FOR part IN
        WITH RECURSIVE declared AS MATERIALIZED (
            SELECT d.*, c.oid AS relation
            FROM _pgrecall.table_declarations() d
            JOIN pg_class c ON c.relnamespace = 'pgrecall'::regnamespace AND c.relname = d.name
        ), referring (relation, depth) AS (
            SELECT d.relation, 0 FROM declared d
            UNION
            SELECT d.relation, r.depth + 1
            FROM referring r
            JOIN pg_constraint k ON k.confrelid = r.relation AND k.contype = 'f' AND k.conrelid <> k.confrelid
            JOIN declared d ON d.relation = k.conrelid
        )
        SELECT d.name, d.home, d.is_of_memory
        FROM declared d
        JOIN referring r ON r.relation = d.relation
        WHERE NOT d.is_kept AND (d.is_of_memory OR d.home IS NOT NULL)
        GROUP BY d.name, d.home, d.is_of_memory
        ORDER BY max(r.depth) DESC, d.name <> 'memories', d.name
    LOOP
        EXECUTE format(
            CASE WHEN part.is_of_memory
                THEN 'DELETE FROM pgrecall.%I t USING pgrecall.memories m WHERE m.id = t.memory_id AND m.namespace_id = $1'
                ELSE 'DELETE FROM pgrecall.%I t WHERE t.%I = $1'
            END, part.name, part.home
        ) USING home;
        GET DIAGNOSTICS gone = ROW_COUNT;
        counts := counts || jsonb_build_object(part.name, gone);
    END LOOP;
    SELECT counts || jsonb_build_object('settings', _pgrecall.rename_stored_default(n.name, NULL)) INTO counts
    FROM pgrecall.namespaces n WHERE n.id = home;
    DELETE FROM pgrecall.namespaces n WHERE n.id = home;

    INSERT INTO pgrecall.erasures AS e (namespace_id, role, counts)
    SELECT home, erase_namespace_rows.role, COALESCE(jsonb_object_agg(c.key, c.value::bigint), '{}')
    FROM jsonb_each_text(counts || '{"namespaces": 1}') c WHERE c.value::bigint > 0
    RETURNING e.* INTO receipt;
    RETURN receipt;
END
$function$;
