-- Inserts memories that were checked; returns of each in turn its id, NULL where its external_id was there already.
--
-- memories   JSON array of objects of options of remember(); updated_at and deleted_at may be among them
-- namespace  of the memories that name none
CREATE OR REPLACE FUNCTION _pgrecall.insert_memories(memories jsonb, namespace text)
RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    ids bigint[];
BEGIN
    -- The ids are drawn first, so that what was inserted can be told from what was there.
    SELECT array_agg(nextval('pgrecall.memories_id_seq') ORDER BY e.place) INTO ids
    FROM jsonb_array_elements(memories) WITH ORDINALITY e (fields, place);

    -- As their unique index sorts them: two calls with the same memories wait for each other and do not deadlock.
    WITH inserted AS (
        INSERT INTO pgrecall.memories AS m (
            id, namespace_id, content, title, category, tags, expanded_keywords, importance, metadata, source, session,
            speaker, "position", language, is_sensitive, occurred_at, created_at, valid_from, valid_to, external_id,
            updated_at, deleted_at, content_hash, search_vector
        )
        SELECT ids[e.place], n.id, f.content, NULLIF(f.title, ''), NULLIF(f.category, ''),
               COALESCE(f.tags, '{}'), COALESCE(f.expanded_keywords, '{}'), COALESCE(f.importance, 0.5),
               COALESCE(f.metadata, '{}'), NULLIF(f.source, ''), NULLIF(f.session, ''), NULLIF(f.speaker, ''), f."position",
               COALESCE(f.language, n.language), COALESCE(f.is_sensitive, false), f.occurred_at, COALESCE(f.created_at, now()),
               f.valid_from, f.valid_to, NULLIF(f.external_id, ''),
               COALESCE((e.fields ->> 'updated_at')::timestamptz, now()), (e.fields ->> 'deleted_at')::timestamptz,
               '', ''  -- _pgrecall.derive_memory_columns() fills these two
        FROM jsonb_array_elements(memories) WITH ORDINALITY e (fields, place)
        CROSS JOIN LATERAL jsonb_populate_record(NULL::pgrecall.memory_fields, e.fields) f
        -- Computed before the lookup: under row-level security an index takes no expression that is not leakproof.
        CROSS JOIN LATERAL (SELECT COALESCE(e.fields ->> 'namespace', insert_memories.namespace) AS name OFFSET 0) home
        JOIN pgrecall.namespaces n ON n.name = home.name
        ORDER BY n.id, f.external_id, e.place
        ON CONFLICT (namespace_id, external_id) WHERE external_id IS NOT NULL DO NOTHING
        RETURNING m.id
    )
    SELECT array_agg(i.id ORDER BY d.place) INTO ids
    FROM unnest(ids) WITH ORDINALITY d (id, place) LEFT JOIN inserted i ON i.id = d.id;
    RETURN COALESCE(ids, '{}');
END
$function$;

COMMENT ON FUNCTION _pgrecall.insert_memories IS
    'Inserts memories that were checked; returns of each in turn its id, NULL where its external_id was there already.';
