-- Makes the concepts that memories name, where they are missing, and removes those that nothing mentions any more.
--
-- New concepts come first, then one pass over those that are there; both go by namespace and key, so that writers who
-- share concepts wait for each other and do not deadlock. Until commit
--   a named concept cannot be removed (FOR KEY SHARE: any number of writers at a time);
--   a lost one can be lost by nobody else (FOR NO KEY UPDATE): whoever is last sees that nothing is left, and waits
--   for writers who have just named it (FOR UPDATE) before removing it.
--
-- lost  concepts that have lost a mention or a relationship
CREATE OR REPLACE FUNCTION pgrecall.settle_concepts(memory_ids bigint[], lost bigint[] DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    -- The concepts that are named, in order.
    namespaces integer[];
    keys text[];
    names text[];
    concept record;
    missing boolean := true;
BEGIN
    SELECT array_agg(said.namespace_id), array_agg(said.key), array_agg(said.name) INTO namespaces, keys, names
    FROM (
        SELECT s.namespace_id, s.key, min(s.name) AS name
        FROM pgrecall.said_concepts(memory_ids) s
        GROUP BY s.namespace_id, s.key
        ORDER BY s.namespace_id, s.key
    ) said;

    WHILE missing LOOP
        WITH made AS (
            INSERT INTO pgrecall.concepts AS c (namespace_id, key, name)
            SELECT said.namespace_id, said.key, said.name
            FROM unnest(namespaces, keys, names) WITH ORDINALITY said (namespace_id, key, name, place)
            ORDER BY said.place
            ON CONFLICT DO NOTHING
            RETURNING c.namespace_id, c.key, c.id
        )
        INSERT INTO pgrecall.concept_aliases (namespace_id, alias, concept_id)
        SELECT m.namespace_id, m.key, m.id FROM made m;

        IF cardinality(lost) > 0 THEN
            FOR concept IN
                SELECT c.id, c.id = ANY (lost) AS is_lost
                FROM pgrecall.concepts c
                WHERE c.id = ANY (lost)
                   OR (c.type = 'CONCEPT'
                       AND (c.namespace_id, c.key) IN (SELECT n.namespace_id, n.key FROM unnest(namespaces, keys) n (namespace_id, key)))
                ORDER BY c.namespace_id, c.key, c.type
            LOOP
                IF concept.is_lost THEN
                    PERFORM pgrecall.remove_orphan(concept.id);
                ELSE
                    PERFORM FROM pgrecall.concepts c WHERE c.id = concept.id FOR KEY SHARE;
                END IF;
            END LOOP;
            lost := '{}';
        END IF;

        -- One that is missing now was removed as an orphan in between: make it again.
        SELECT count(c.id) < count(*) INTO missing
        FROM unnest(namespaces, keys) WITH ORDINALITY said (namespace_id, key, place)
        LEFT JOIN LATERAL (
            SELECT c.id FROM pgrecall.concepts c
            WHERE c.namespace_id = said.namespace_id AND c.key = said.key AND c.type = 'CONCEPT'
            LIMIT 1 FOR KEY SHARE
        ) c ON true;
    END LOOP;
END
$function$;

COMMENT ON FUNCTION pgrecall.settle_concepts IS
    'Makes the concepts that memories name, where they are missing, and removes those that nothing mentions any more.';
