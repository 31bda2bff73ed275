-- Sets a concept's type from its mention with the highest confidence; without one, the type stays with no confidence.
CREATE OR REPLACE FUNCTION _pgrecall.refresh_concept_type(concept_id bigint)
RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    UPDATE pgrecall.concepts c
    SET type = COALESCE(surest.type, c.type), type_confidence = COALESCE(surest.confidence, 0)
    FROM (SELECT refresh_concept_type.concept_id AS id) this
    LEFT JOIN LATERAL (
        SELECT m.type, m.confidence FROM pgrecall.mentions m
        WHERE m.concept_id = this.id AND m.type IS NOT NULL
        ORDER BY m.confidence DESC, m.type
        LIMIT 1
    ) surest ON true
    WHERE c.id = this.id;
END;
