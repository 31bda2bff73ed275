-- Links memories to the concepts of their tags and expanded keywords, making those concepts where needed.
--
-- Sensitive and forgotten memories are passed over: nothing is derived from them. Concepts are looked up one by one
-- (LATERAL … LIMIT 1): in a bulk load the planner knows nothing yet of the tables, and any join it chose would be a guess.
--
-- memory_ids  a few thousand at the most
CREATE OR REPLACE FUNCTION pgrecall.add_mentions(memory_ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    -- What the memories say: one element a tag or keyword.
    memories bigint[];
    namespaces integer[];
    sources text[];
    names text[];
    keys text[];
    missing boolean := true;
BEGIN
    SELECT array_agg(said.id), array_agg(said.namespace_id), array_agg(said.source), array_agg(said.name), array_agg(said.key)
    INTO memories, namespaces, sources, names, keys
    FROM (
        SELECT m.id, m.namespace_id, word.source, word.name, pgrecall.normalise(word.name) AS key
        FROM pgrecall.memories m
        CROSS JOIN LATERAL (
            SELECT 'tag', tag FROM unnest(m.tags) tag
            UNION ALL
            SELECT 'keyword', keyword FROM unnest(m.expanded_keywords) keyword
        ) word (source, name)
        WHERE m.id = ANY (memory_ids) AND NOT m.is_sensitive AND m.deleted_at IS NULL AND length(word.name) <= 200
    ) said
    WHERE said.key <> '';

    WHILE missing AND keys IS NOT NULL LOOP
        -- In order, so that two writers who make the same new concepts wait for each other and do not deadlock.
        INSERT INTO pgrecall.concepts (namespace_id, key, name)
        SELECT said.namespace_id, said.key, min(said.name)
        FROM unnest(namespaces, keys, names) said (namespace_id, key, name)
        GROUP BY said.namespace_id, said.key
        ORDER BY said.namespace_id, said.key
        ON CONFLICT DO NOTHING;

        -- Held until commit. One that is missing now was removed as an orphan in between: make it again.
        SELECT count(c.id) < count(*) INTO missing
        FROM (
            SELECT DISTINCT d.namespace_id, d.key FROM unnest(namespaces, keys) d (namespace_id, key) ORDER BY 1, 2
        ) said
        LEFT JOIN LATERAL (
            SELECT c.id FROM pgrecall.concepts c
            WHERE c.namespace_id = said.namespace_id AND c.key = said.key AND c.type = 'CONCEPT'
            LIMIT 1 FOR KEY SHARE
        ) c ON true;
    END LOOP;

    INSERT INTO pgrecall.concept_aliases (namespace_id, alias, concept_id)
    SELECT said.namespace_id, said.key, c.id
    FROM (
        SELECT DISTINCT d.namespace_id, d.key FROM unnest(namespaces, keys) d (namespace_id, key) ORDER BY 1, 2
    ) said
    CROSS JOIN LATERAL (
        SELECT c.id FROM pgrecall.concepts c
        WHERE c.namespace_id = said.namespace_id AND c.key = said.key AND c.type = 'CONCEPT'
        LIMIT 1
    ) c
    ON CONFLICT DO NOTHING;

    INSERT INTO pgrecall.mentions (namespace_id, concept_id, memory_id, source)
    SELECT said.namespace_id, c.id, said.memory_id, said.source
    FROM unnest(memories, namespaces, sources, keys) said (memory_id, namespace_id, source, key)
    CROSS JOIN LATERAL (
        SELECT c.id FROM pgrecall.concepts c
        WHERE c.namespace_id = said.namespace_id AND c.key = said.key AND c.type = 'CONCEPT'
        LIMIT 1
    ) c
    ON CONFLICT DO NOTHING;
END
$function$;

COMMENT ON FUNCTION pgrecall.add_mentions IS
    'Links memories to the concepts of their tags and expanded keywords; sensitive and forgotten memories are passed over.';
