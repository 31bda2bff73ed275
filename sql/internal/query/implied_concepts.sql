-- The concepts of some names that a query means without naming them: the rarest of each name, five at the most.
--
-- named   what the query itself names, which is left out
-- df_max  see named_concepts
CREATE OR REPLACE FUNCTION _pgrecall.implied_concepts(namespace_id integer, entities text[], named bigint[], df_max integer)
RETURNS bigint[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN ARRAY(
    SELECT c.id
    FROM unnest(entities) WITH ORDINALITY e (name, place)
    CROSS JOIN LATERAL unnest(_pgrecall.named_concepts(namespace_id, e.name, df_max)) WITH ORDINALITY c (id, turn)
    WHERE c.id <> ALL (named)
    GROUP BY c.id
    ORDER BY min(c.turn), min(e.place), c.id
    LIMIT 5
);

COMMENT ON FUNCTION _pgrecall.implied_concepts IS
    'The concepts of some names that a query means without naming them, five at the most.';
