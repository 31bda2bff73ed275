-- Merges two matching concepts if both still exist. The concept with fewer mentions is merged into the other.
--
-- Mentions are counted up to 1000; with equal counts the older concept stays.
CREATE OR REPLACE FUNCTION _pgrecall.merge_alike(one bigint, other bigint, method text, similarity real)
RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT pgrecall.merge_concepts(c.ids[2], c.ids[1], merge_alike.method, merge_alike.similarity)
    FROM (
        SELECT array_agg(c.id ORDER BY (
            SELECT count(*) FROM (SELECT FROM pgrecall.mentions m WHERE m.concept_id = c.id LIMIT 1000) m
        ) DESC, c.id) AS ids
        FROM pgrecall.concepts c
        WHERE c.id IN (one, other)
    ) c
    WHERE cardinality(c.ids) = 2;
END;

COMMENT ON FUNCTION _pgrecall.merge_alike IS
    'Merges two matching concepts if both still exist. The one with fewer mentions is merged into the other.';
