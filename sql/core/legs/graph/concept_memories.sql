-- Returns the memories of a concept, with their number: those about it first, then the newest mentions; at most
-- hub_max_mentions + 1.
--
-- One index-only read of mentions_concept_idx gives the memories, their number and whether the concept is a hub (df >
-- hub_max_mentions). A hub costs no more than any other concept.
CREATE OR REPLACE FUNCTION _pgrecall.concept_memories(concept_id bigint, hub_max_mentions integer)
RETURNS TABLE (memory_ids bigint[], are_about boolean[], df integer)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT array_agg(x.memory_id), array_agg(x.is_about), count(*)::integer
    FROM (
        SELECT m.memory_id, m.is_about
        FROM pgrecall.mentions m
        WHERE m.concept_id = concept_memories.concept_id
        ORDER BY m.is_about DESC, m.memory_id DESC
        LIMIT hub_max_mentions + 1
    ) x;
END;
