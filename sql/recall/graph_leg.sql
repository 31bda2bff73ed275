-- The graph leg: memories that share concepts with the query or with the best hits of the other legs.
--
-- A walk from memory to memory over the concepts that both mention. It starts at the seeds, each with its weight, and
-- at the concepts that the query names (weight 1). A step over a concept leaves weight * decay / sqrt(df) where df is
-- how many memories mention it: rare concepts say more. A memory's score is the sum over the walks that reach it.
-- Concepts outside the window [df_min, df_max] link nothing. Every fan-out is capped, and so is the counting of df:
-- a hub costs no more than any other concept.
--
-- seed_ids, seed_weights  where to start, best first
-- frontier                how many of the best memories go on at each hop
-- neighbours              how many memories each of them, and each concept of the query, leads to
-- hops                    how many steps; 0 finds nothing
CREATE OR REPLACE FUNCTION pgrecall.graph_leg(
    namespace_id integer, query text, seed_ids bigint[], seed_weights double precision[], filter pgrecall.recall_filter,
    depth integer, frontier integer, neighbours integer, hops integer, decay double precision,
    df_min integer, df_max integer
)
RETURNS TABLE (id bigint, rank integer, score double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50
BEGIN ATOMIC
    WITH RECURSIVE walk (memory_id, origin, hop, weight) AS (
        SELECT s.id, s.id, 0, s.weight
        FROM unnest(seed_ids, seed_weights) s (id, weight)
        UNION ALL
        SELECT n.memory_id, NULL::bigint, 1, decay / sqrt(c.df)
        FROM pgrecall.query_concepts(graph_leg.namespace_id, query) q
        CROSS JOIN LATERAL (
            SELECT count(*) AS df
            FROM (SELECT FROM pgrecall.mentions m WHERE m.concept_id = q.concept_id LIMIT df_max + 1) counted
        ) c
        CROSS JOIN LATERAL (
            SELECT DISTINCT m.memory_id FROM pgrecall.mentions m
            WHERE m.concept_id = q.concept_id ORDER BY m.memory_id DESC LIMIT neighbours
        ) n
        WHERE hops > 0 AND c.df BETWEEN 1 AND df_max
        UNION ALL
        SELECT n.memory_id, w.origin, w.hop + 1, w.weight * decay / sqrt(n.df)
        FROM (SELECT f.*, row_number() OVER (ORDER BY f.weight DESC, f.memory_id) AS place FROM walk f) w
        CROSS JOIN LATERAL (
            SELECT m.memory_id, min(c.df) AS df
            FROM pgrecall.mentions own
            CROSS JOIN LATERAL (
                SELECT count(*) AS df
                FROM (SELECT FROM pgrecall.mentions m WHERE m.concept_id = own.concept_id LIMIT df_max + 1) counted
            ) c
            JOIN pgrecall.mentions m ON m.concept_id = own.concept_id AND m.memory_id <> own.memory_id
            WHERE own.memory_id = w.memory_id AND c.df BETWEEN df_min AND df_max
            GROUP BY m.memory_id
            ORDER BY sum(1 / sqrt(c.df)) DESC, m.memory_id DESC
            LIMIT neighbours
        ) n
        WHERE w.hop < hops AND w.place <= frontier AND n.memory_id IS DISTINCT FROM w.origin
    ), reached AS (
        SELECT w.memory_id, sum(w.weight) AS weight FROM walk w WHERE w.hop > 0 GROUP BY w.memory_id
    )
    SELECT m.id, (row_number() OVER (ORDER BY r.weight DESC, m.id))::integer, r.weight
    FROM reached r
    JOIN pgrecall.memories m ON m.id = r.memory_id
    WHERE m.namespace_id = graph_leg.namespace_id AND pgrecall.matches(m, filter)
    ORDER BY r.weight DESC, m.id
    LIMIT depth;
END;

COMMENT ON FUNCTION pgrecall.graph_leg IS
    'Memories that share concepts with the query or with the seeds: a capped walk of one or two hops, rare concepts counting more.';
