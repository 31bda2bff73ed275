-- The concepts that go with one: those it shares memories with or is related to, the strongest ties first.
--
-- A tie counts the memories that mention both among the newest 500 that mention the concept, those about it first, each
-- with 50 concepts at the most. The weight is that count over the root of how many mention the other (counted up to 1000), so that what is
-- mentioned everywhere does not lead; a relationship that holds adds its own weight.
--
-- k  how many at the most
-- relationships, in the result  labels of those that hold; "<" leads to the concept, ">" from it
CREATE OR REPLACE FUNCTION pgrecall.concept_neighbours(concept_id bigint, k integer DEFAULT 20)
RETURNS TABLE (neighbour_id bigint, name text, type text, shared bigint, weight double precision, relationships text[])
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 20
SET search_path FROM CURRENT
BEGIN ATOMIC
    WITH newest AS MATERIALIZED (
        SELECT DISTINCT x.memory_id
        FROM (
            SELECT m.memory_id FROM pgrecall.mentions m
            WHERE m.concept_id = concept_neighbours.concept_id
            ORDER BY m.is_about DESC, m.memory_id DESC
            LIMIT 500
        ) x
    ), beside AS (
        SELECT o.concept_id AS id, count(*) AS shared
        FROM newest w
        CROSS JOIN LATERAL (
            SELECT DISTINCT m.concept_id
            FROM (SELECT m.concept_id FROM pgrecall.mentions m WHERE m.memory_id = w.memory_id LIMIT 50) m
        ) o
        WHERE o.concept_id <> concept_neighbours.concept_id
        GROUP BY o.concept_id
    ), related AS (
        SELECT r.id, max(r.weight) AS weight, array_agg(DISTINCT r.label ORDER BY r.label) AS labels
        FROM (
            (SELECT r.target_id AS id, r.weight, '> ' || r.label AS label FROM pgrecall.relationships r
             WHERE r.source_id = concept_neighbours.concept_id
               AND _pgrecall.is_valid_at(r.valid_from, r.valid_to, now()) LIMIT 500)
            UNION ALL
            (SELECT r.source_id, r.weight, '< ' || r.label FROM pgrecall.relationships r
             WHERE r.target_id = concept_neighbours.concept_id
               AND _pgrecall.is_valid_at(r.valid_from, r.valid_to, now()) LIMIT 500)
        ) r
        WHERE r.id <> concept_neighbours.concept_id
        GROUP BY r.id
    ), tied AS (
        SELECT id, COALESCE(b.shared, 0) AS shared, COALESCE(r.weight, 0) AS weight, COALESCE(r.labels, '{}') AS labels
        FROM beside b FULL JOIN related r USING (id)
    )
    SELECT t.id, c.name, c.type, t.shared, t.weight + t.shared / sqrt(greatest(d.df, 1)) AS weight, t.labels
    FROM (SELECT t.* FROM tied t ORDER BY t.weight DESC, t.shared DESC, t.id LIMIT 500) t
    JOIN pgrecall.concepts c ON c.id = t.id
    CROSS JOIN LATERAL (
        SELECT count(*) AS df FROM (SELECT FROM pgrecall.mentions m WHERE m.concept_id = t.id LIMIT 1000) m
    ) d
    ORDER BY 5 DESC, t.id
    LIMIT k;
END;

COMMENT ON FUNCTION pgrecall.concept_neighbours IS
    'The concepts that share memories with one or are related to it, the strongest ties first.';

ALTER FUNCTION pgrecall.concept_neighbours OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.concept_neighbours TO pgrecall_reader;
