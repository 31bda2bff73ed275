-- Erases a memory and everything derived from it, writes the receipt, and returns it.
--
-- The caller _pgrecall.erase_granted() has checked the role. Versions of the memory that lost a conflict are erased
-- too, and all notes of a message: other messages of a note are read again (follow_message). Memories that one of them superseded
-- now point to its successor, the first that stays; without one they are forgotten, because they are no longer true.
--
-- It starts like forget(), whose triggers lock rows in an order that is safe with concurrent writers, and then deletes.
CREATE OR REPLACE FUNCTION _pgrecall.erase_memory_rows(namespace_id integer, memory_id bigint, role text)
RETURNS pgrecall.erasures
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    home CONSTANT integer := erase_memory_rows.namespace_id;
    ids bigint[];
    locked bigint[] := '{}'::bigint[];
    concept_ids bigint[];
    terms text[];
    languages text[];
    memory_text text;
    noted record;
    before jsonb;
    receipt pgrecall.erasures;
BEGIN
    PERFORM _pgrecall.lock_postings(home);
    -- In the order of ids, as supersede() does. Repeat until no row is left: another session may be adding a version.
    LOOP
        SELECT array_agg(m.id) INTO ids
        FROM pgrecall.memories m
        WHERE m.namespace_id = home AND (
            m.id = erase_memory_rows.memory_id
            -- "with" is the id that the winner had where the conflict was: an import gives it another.
            OR (m.superseded_by = erase_memory_rows.memory_id AND m.metadata -> 'conflict' ?& '{with,lost}')
            OR m.id = ANY (ARRAY(
                SELECT e.note_id FROM pgrecall.note_evidence e WHERE e.memory_id = erase_memory_rows.memory_id
            ))
        );
        EXIT WHEN ids IS NULL OR ids <@ locked;
        PERFORM FROM pgrecall.memories m WHERE m.id = ANY (ids) OR m.superseded_by = ANY (ids) ORDER BY m.id FOR UPDATE;
        locked := ids;
    END LOOP;
    IF ids IS NULL OR erase_memory_rows.memory_id <> ALL (ids) THEN
        PERFORM _pgrecall.raise_unknown_memory(erase_memory_rows.memory_id);
    END IF;

    SELECT COALESCE(array_agg(DISTINCT w.term), '{}') INTO terms
    FROM (
        SELECT unnest(tsvector_to_array(m.search_vector)) FROM pgrecall.memories m WHERE m.id = ANY (ids)
        UNION ALL
        SELECT unnest(tsvector_to_array(u.indexed_vector)) FROM pgrecall.pending_postings u WHERE u.memory_id = ANY (ids)
    ) w (term);
    SELECT array_agg(DISTINCT m.language),
           ' ' || string_agg(pgrecall.normalize_name(concat_ws(
               ' ', m.title, m.content, m.speaker, array_to_string(m.tags, ' '), array_to_string(m.expanded_keywords, ' ')
           )), ' ') || ' '
    INTO languages, memory_text
    FROM pgrecall.memories m WHERE m.id = ANY (ids);
    SELECT COALESCE(array_agg(DISTINCT c.id), '{}') INTO concept_ids
    FROM (
        SELECT m.concept_id FROM pgrecall.mentions m WHERE m.memory_id = ANY (ids)
        UNION ALL
        SELECT unnest(ARRAY[r.source_id, r.target_id])
        FROM pgrecall.relationship_evidence e
        JOIN pgrecall.relationships r ON r.id = e.relationship_id
        WHERE e.memory_id = ANY (ids)
        UNION ALL
        -- A forgotten memory has no mentions left, but its manual aliases may remain.
        SELECT a.concept_id FROM pgrecall.concept_aliases a
        WHERE a.namespace_id = home AND a.is_manual AND EXISTS (
            SELECT FROM pgrecall.concept_aliases o
            WHERE o.concept_id = a.concept_id AND strpos(memory_text, ' ' || o.alias || ' ') > 0
        )
    ) c (id);
    SELECT jsonb_object_agg(c.name, c.rows) INTO before FROM _pgrecall.erasure_counts(home, ids, concept_ids, terms) c;

    -- The memory itself first: it withdraws its notes while they are not forgotten, so that their other messages are read again.
    UPDATE pgrecall.memories m SET deleted_at = now(), updated_at = now() WHERE m.id = erase_memory_rows.memory_id AND m.deleted_at IS NULL;
    UPDATE pgrecall.memories m SET deleted_at = now(), updated_at = now() WHERE m.id = ANY (ids) AND m.deleted_at IS NULL;
    UPDATE pgrecall.memories m
    SET superseded_by = h.heir, updated_at = now(),
        deleted_at = CASE WHEN h.heir IS NULL THEN COALESCE(m.deleted_at, now()) ELSE m.deleted_at END
    FROM (
        WITH RECURSIVE chain (id, heir) AS (
            SELECT e.id, e.superseded_by FROM pgrecall.memories e WHERE e.id = ANY (ids)
            UNION
            SELECT c.id, e.superseded_by FROM chain c JOIN pgrecall.memories e ON e.id = c.heir WHERE c.heir = ANY (ids)
        )
        SELECT c.id, c.heir FROM chain c WHERE (c.heir = ANY (ids)) IS NOT TRUE
    ) h
    WHERE m.superseded_by = h.id AND m.id <> ALL (ids);
    PERFORM _pgrecall.lock_aliases_shared(ARRAY[home]);
    PERFORM _pgrecall.erase_concepts(home, concept_ids);

    -- A memory moved from another namespace may still have pending changes and postings there.
    FOR noted IN
        SELECT u.namespace_id AS id, array_agg(u.memory_id) FILTER (WHERE u.indexed_vector IS NOT NULL) AS ids,
               array_agg(u.indexed_vector) FILTER (WHERE u.indexed_vector IS NOT NULL) AS vectors,
               array_agg(u.indexed_past) FILTER (WHERE u.indexed_vector IS NOT NULL) AS past
        FROM pgrecall.pending_postings u
        WHERE u.memory_id = ANY (ids)
        GROUP BY u.namespace_id
        ORDER BY u.namespace_id
    LOOP
        PERFORM _pgrecall.lock_postings(noted.id);
        PERFORM _pgrecall.remove_postings(noted.id, noted.ids, noted.vectors, noted.past) WHERE noted.ids IS NOT NULL;
    END LOOP;
    UPDATE pgrecall.posting_states s SET compacted_to = '' WHERE s.namespace_id = home AND s.compacted_to = ANY (terms);
    PERFORM _pgrecall.erase_judged_queries(home, ids, terms, languages);
    -- The next copy of the conversation has it still.
    INSERT INTO pgrecall.erased_messages (namespace_id, key, "position")
    SELECT home, sha256(convert_to(CASE WHEN k.part[2] IS NULL THEN m.external_id ELSE k.part[1] END, 'UTF8')),
           COALESCE(k.part[2]::integer, 0)
    FROM pgrecall.memories m
    CROSS JOIN LATERAL regexp_match(m.external_id, '^(message:[0-9a-f]{64})(?:@-?[0-9]+(?::[0-9]+)?|:([0-9]{1,9}))$') k (part)
    WHERE m.id = ANY (ids) AND k.part IS NOT NULL
    ON CONFLICT DO NOTHING;
    -- Cascades to referring rows; a trigger queues the postings once more.
    DELETE FROM pgrecall.memories m WHERE m.id = ANY (ids);
    DELETE FROM pgrecall.pending_postings u WHERE u.memory_id = ANY (ids);
    -- The mean holds a trace of the erased embeddings.
    PERFORM _pgrecall.refresh_background(home, b.generation_id)
    FROM pgrecall.embedding_backgrounds b WHERE b.namespace_id = home;

    INSERT INTO pgrecall.erasures AS e (namespace_id, memory_id, role, counts)
    SELECT home, erase_memory_rows.memory_id, erase_memory_rows.role, COALESCE(jsonb_object_agg(g.name, g.rows), '{}')
    FROM (
        SELECT c.name, (before ->> c.name)::bigint - c.rows AS rows
        FROM _pgrecall.erasure_counts(home, ids, concept_ids, terms) c
        UNION ALL
        SELECT e.key, e.value::bigint FROM jsonb_each_text(_pgrecall.clear_query_caches(home)) e
    ) g
    WHERE g.rows > 0
    RETURNING e.* INTO receipt;
    RETURN receipt;
END
$function$;
