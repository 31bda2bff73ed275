-- Sets the types of concepts again after other results have replaced mentions that may have decided them.
--
-- Another version of an extractor reads an unchanged text: what it no longer says was a wrong guess, and must not outlive
-- its mention. Without another mention with a type, the concept is a CONCEPT.
--
-- concept_ids  concepts that lost a mention with a type
-- memory_ids   memories whose mentions have just been stored; if one of them repeats the type, nothing changes
CREATE OR REPLACE FUNCTION _pgrecall.retype_concepts(concept_ids bigint[], memory_ids bigint[])
RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    WITH doubted AS MATERIALIZED (
        SELECT c.id
        FROM (SELECT DISTINCT given.id FROM unnest(concept_ids) given (id)) given
        CROSS JOIN LATERAL (SELECT c.id, c.type, c.type_confidence FROM pgrecall.concepts c WHERE c.id = given.id LIMIT 1) c
        WHERE c.type <> 'CONCEPT'
          AND NOT EXISTS (
              SELECT FROM pgrecall.mentions m
              WHERE m.memory_id = ANY (memory_ids) AND m.concept_id = c.id AND m.type = c.type AND m.confidence >= c.type_confidence
          )
        ORDER BY c.id
    )
    UPDATE pgrecall.concepts c
    SET type = COALESCE(surest.type, 'CONCEPT'), type_confidence = COALESCE(surest.confidence, 0)
    FROM doubted
    LEFT JOIN LATERAL (
        SELECT m.type, m.confidence FROM pgrecall.mentions m
        WHERE m.concept_id = doubted.id AND m.type IS NOT NULL
        ORDER BY m.confidence DESC, m.type
        LIMIT 1
    ) surest ON true
    WHERE c.id = doubted.id;
END;
