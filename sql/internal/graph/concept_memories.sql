-- The memories of a concept: those that are about it first, then the newest that mention it; df_max + 1 at the most.
--
-- Read once and no further, by mentions_concept_idx alone: who mentions it, how many they are, whether it is a hub
-- (df > df_max). A hub costs no more than any other concept.
CREATE OR REPLACE FUNCTION _pgrecall.concept_memories(concept_id bigint, df_max integer)
RETURNS TABLE (memory_ids bigint[], are_about boolean[], df integer)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT array_agg(x.memory_id), array_agg(x.is_about), count(*)::integer
    FROM (
        SELECT m.memory_id, m.is_about
        FROM pgrecall.mentions m
        WHERE m.concept_id = concept_memories.concept_id
        ORDER BY m.is_about DESC, m.memory_id DESC
        LIMIT df_max + 1
    ) x;
END;

COMMENT ON FUNCTION _pgrecall.concept_memories IS
    'The memories of a concept, those about it first, then the newest that mention it, and how many they are; capped.';
