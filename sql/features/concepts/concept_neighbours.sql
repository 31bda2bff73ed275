-- Lists the concepts that share memories or a relationship with a concept, strongest first.
--
-- A neighbour's count is the number of memories that mention both, among the newest 500 that mention the concept
-- (memories about it first), with at most 50 concepts per memory. The weight is that count divided by the square root
-- of the neighbour's mentions (counted up to 1000), so that frequent concepts do not dominate. A current relationship
-- adds its own weight.
--
-- k  maximum number of rows
-- relationships, in the result  labels of current relationships; "<" points to the concept, ">" away from it
CREATE OR REPLACE FUNCTION pgrecall.concept_neighbours(concept_id bigint, k integer DEFAULT 20)
RETURNS TABLE (neighbour_id bigint, name text, type text, shared bigint, weight double precision, relationships text[])
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 20
SET search_path FROM CURRENT
BEGIN ATOMIC
    WITH seen AS MATERIALIZED (
        SELECT _pgrecall.seen_id('concept', concept_neighbours.concept_id) AS id
    ), newest AS MATERIALIZED (
        SELECT DISTINCT x.memory_id
        FROM (
            SELECT m.memory_id FROM pgrecall.mentions m
            WHERE m.concept_id = (SELECT s.id FROM seen s)
            ORDER BY m.is_about DESC, m.memory_id DESC
            LIMIT 500
        ) x
    ), neighbours AS (
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
             WHERE r.source_id = (SELECT s.id FROM seen s)
               AND _pgrecall.is_valid_at(r.valid_from, r.valid_to, now()) LIMIT 500)
            UNION ALL
            (SELECT r.source_id, r.weight, '< ' || r.label FROM pgrecall.relationships r
             WHERE r.target_id = (SELECT s.id FROM seen s)
               AND _pgrecall.is_valid_at(r.valid_from, r.valid_to, now()) LIMIT 500)
        ) r
        WHERE r.id <> concept_neighbours.concept_id
        GROUP BY r.id
    ), tied AS (
        SELECT id, COALESCE(b.shared, 0) AS shared, COALESCE(r.weight, 0) AS weight, COALESCE(r.labels, '{}') AS labels
        FROM neighbours b FULL JOIN related r USING (id)
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

ALTER FUNCTION pgrecall.concept_neighbours OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.concept_neighbours TO pgrecall_reader;
