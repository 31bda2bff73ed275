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
    by_namespace CONSTANT text := 'DELETE FROM pgrecall.%I t WHERE t.namespace_id = $1';
    by_memory CONSTANT text :=
        'DELETE FROM pgrecall.%I t USING pgrecall.memories m WHERE m.id = t.memory_id AND m.namespace_id = $1';
    counts jsonb;
    part record;
    gone bigint;
    receipt pgrecall.erasures;
BEGIN
    -- Waits for writers, which lock the namespace through their foreign keys.
    PERFORM FROM pgrecall.namespaces n WHERE n.id = home FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no namespace %', COALESCE(home::text, 'NULL')
            USING ERRCODE = 'undefined_object', HINT = 'Check the name; another session may have erased it.';
    END IF;
    PERFORM _pgrecall.lock_postings(home);
    PERFORM _pgrecall.lock_aliases_exclusive(home);
    PERFORM _pgrecall.lock_relationships(ARRAY[home]);
    PERFORM FROM pgrecall.memories m WHERE m.namespace_id = home ORDER BY m.id FOR UPDATE;
    counts := _pgrecall.clear_query_caches(home);
    FOR part IN
        SELECT t.name, t.statement
        FROM (VALUES
            (1, 'judgements', by_namespace), (2, 'judged_vectors', by_namespace), (3, 'judged_queries', by_namespace),
            (4, 'curation_jobs', by_memory), (5, 'curations', by_namespace), (6, 'embedding_jobs', by_memory),
            (7, 'embedding_failures', by_memory), (8, 'truncated_embeddings', by_memory), (8, 'passages', by_namespace),
            (9, 'extractions', by_memory),
            (10, 'llm_answers', by_memory), (11, 'temporal_refs', by_namespace), (12, 'relationship_evidence', by_namespace),
            (13, 'relationships', by_namespace), (14, 'mentions', by_namespace), (15, 'concept_merges', by_namespace),
            (16, 'concept_aliases', by_namespace), (17, 'concepts', by_namespace), (18, 'relation_labels', by_namespace),
            (19, 'entity_rules', by_namespace), (20, 'memory_changes', by_memory), (20, 'note_evidence', by_memory),
            (21, 'memories', by_namespace), (21, 'pending_postings', by_namespace), (21, 'retention', by_namespace),
            (22, 'postings', by_namespace), (22, 'posting_states', by_namespace), (23, 'term_stats', by_namespace),
            (24, 'graph_changes', by_namespace),
            (25, 'grants', by_namespace), (26, 'learned_settings', by_namespace)
        ) t (place, name, statement)
        ORDER BY t.place
    LOOP
        EXECUTE format(part.statement, part.name) USING home;
        GET DIAGNOSTICS gone = ROW_COUNT;
        counts := counts || jsonb_build_object(part.name, gone);
    END LOOP;
    -- The stored default may name it.
    DELETE FROM pgrecall.settings s
    USING pgrecall.namespaces n
    WHERE n.id = home AND s.name = 'namespace' AND s.value = n.name;
    GET DIAGNOSTICS gone = ROW_COUNT;
    counts := counts || jsonb_build_object('settings', gone);
    DELETE FROM pgrecall.namespaces n WHERE n.id = home;

    INSERT INTO pgrecall.erasures AS e (namespace_id, role, counts)
    SELECT home, erase_namespace_rows.role, COALESCE(jsonb_object_agg(c.key, c.value::bigint), '{}')
    FROM jsonb_each_text(counts || '{"namespaces": 1}') c WHERE c.value::bigint > 0
    RETURNING e.* INTO receipt;
    RETURN receipt;
END
$function$;

COMMENT ON FUNCTION _pgrecall.erase_namespace_rows IS 'Erases a namespace with all its rows; returns the receipt.';
