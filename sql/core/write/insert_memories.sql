-- Inserts checked memories. Returns their ids in order, NULL where the external_id already exists.
--
-- memories   JSON array of objects with options of remember(), and optionally updated_at and deleted_at
-- namespace  the default namespace
CREATE OR REPLACE FUNCTION _pgrecall.insert_memories(memories jsonb, namespace text)
RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    -- Looked up once, and only if a memory does not say it: the setting costs as much as storing a memory does.
    unsaid CONSTANT pgrecall.memory_origin :=
        CASE WHEN memories @? 'lax $[*] ? (!exists(@.origin) || @.origin == null)' THEN _pgrecall.default_origin() END;
    ids bigint[];
BEGIN
    -- Ids are drawn first, so that inserted rows can be distinguished from existing ones.
    SELECT array_agg(nextval('pgrecall.memories_id_seq') ORDER BY e.place) INTO ids
    FROM jsonb_array_elements(memories) WITH ORDINALITY e (fields, place);

    -- In the order of the unique index, so that two calls with the same memories wait instead of deadlocking.
    WITH inserted AS (
        INSERT INTO pgrecall.memories AS m (
            id, namespace_id, content, title, category, tags, expanded_keywords, importance, metadata, source, session,
            speaker, "position", language, is_sensitive, occurred_at, created_at, valid_from, valid_to, external_id,
            updated_at, deleted_at, expires_at, origin, content_hash, search_vector
        )
        SELECT ids[e.place], n.id, f.content, NULLIF(f.title, ''), NULLIF(f.category, ''),
               COALESCE(f.tags, '{}'), COALESCE(f.expanded_keywords, '{}'), COALESCE(f.importance, 0.5),
               COALESCE(f.metadata, '{}'), NULLIF(f.source, ''), NULLIF(f.session, ''), NULLIF(f.speaker, ''), f."position",
               COALESCE(f.language, n.language), COALESCE(f.is_sensitive, false), f.occurred_at, COALESCE(f.created_at, now()),
               f.valid_from, NULLIF(f.valid_to, 'infinity'), NULLIF(f.external_id, ''),
               COALESCE((e.fields ->> 'updated_at')::timestamptz, now()), (e.fields ->> 'deleted_at')::timestamptz,
               NULLIF(f.expires_at, 'infinity'), COALESCE(f.origin, unsaid),
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
