-- Returns the concepts that a query implies but does not name: the rarest of each given name, at most five.
--
-- named             concepts that the query itself names; they are left out
-- hub_max_mentions  see named_concepts
CREATE OR REPLACE FUNCTION _pgrecall.implied_concepts(namespace_id integer, entities text[], named bigint[], hub_max_mentions integer)
RETURNS bigint[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN ARRAY(
    SELECT c.id
    FROM unnest(entities) WITH ORDINALITY e (name, place)
    CROSS JOIN LATERAL unnest(_pgrecall.named_concepts(namespace_id, e.name, hub_max_mentions)) WITH ORDINALITY c (id, turn)
    WHERE c.id <> ALL (named)
    GROUP BY c.id
    ORDER BY min(c.turn), min(e.place), c.id
    LIMIT 5
);
