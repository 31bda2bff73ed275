-- Exports memories as lines of JSON with all fields and embeddings, ordered by id, for pgrecall.import_memories().
-- Sensitive and forgotten ones are optional.
--
-- If the successor of a memory is not exported, the line names the next exported successor. Without one, the memory is not
-- exported either: it would look current. export_records() gives what else a namespace owns.
--
-- namespace          NULL: all
-- include_sensitive  true: export sensitive memories too; their text leaves the database
-- include_forgotten  true: export forgotten memories too
--
-- Errors  42704 no such namespace
CREATE OR REPLACE FUNCTION pgrecall.export_memories(
    namespace text DEFAULT NULL, include_sensitive boolean DEFAULT false, include_forgotten boolean DEFAULT false
)
RETURNS TABLE (line text)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT SET extra_float_digits = 1
BEGIN ATOMIC
    SELECT (
        -- NULL fields are left out, except inside metadata.
        jsonb_strip_nulls(jsonb_build_object(
            'pgrecall', 1, 'id', m.id, 'namespace', n.name, 'namespace_language', n.language,
            'external_id', m.external_id, 'content', m.content, 'title', m.title, 'category', m.category, 'tags', m.tags,
            'expanded_keywords', m.expanded_keywords, 'importance', m.importance, 'source', m.source,
            'session', m.session, 'speaker', m.speaker, 'position', m."position", 'language', m.language,
            'is_sensitive', m.is_sensitive, 'occurred_at', m.occurred_at, 'created_at', m.created_at,
            'updated_at', m.updated_at, 'valid_from', m.valid_from, 'valid_to', m.valid_to, 'expires_at', m.expires_at,
            'origin', m.origin, 'deleted_at', m.deleted_at,
            'superseded_by', l.successor, 'superseded_at', m.superseded_at, 'text_hash', encode(m.content_hash, 'hex'),
            'embeddings', (
                SELECT jsonb_agg(
                    jsonb_build_object('model', o.name, 'dimension', g.dimension,
                                       'vector', _pgrecall.embedding_of(m, g.id)::text,
                                       'passages', (
                                           SELECT jsonb_agg(p.embedding::text ORDER BY b.number)
                                           FROM _pgrecall.passage_bounds(m.content) b
                                           LEFT JOIN pgrecall.passages p
                                               ON p.memory_id = m.id AND p.generation_id = g.id AND p.number = b.number
                                           HAVING count(p.number) > 0
                                       ))
                    ORDER BY g.id
                )
                FROM pgrecall.generations g
                JOIN pgrecall.embedding_models o ON o.id = g.model_id
                WHERE _pgrecall.embedding_of(m, g.id) IS NOT NULL
            )
        )) || jsonb_build_object('metadata', m.metadata)
    )::text
    FROM pgrecall.memories m
    JOIN pgrecall.namespaces n ON n.id = m.namespace_id
    JOIN _pgrecall.exported_memories(
        (SELECT _pgrecall.known_namespace(export_memories.namespace) WHERE export_memories.namespace IS NOT NULL),
        include_sensitive, include_forgotten
    ) l ON l.id = m.id
    ORDER BY m.id;
END;

ALTER FUNCTION pgrecall.export_memories OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.export_memories TO pgrecall_reader;
