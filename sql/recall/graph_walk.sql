-- The walk of the graph leg: memories that share concepts with the query or with the best hits of the other legs.
--
-- From memory to memory over the concepts that both mention, one or two steps (graph_step). It starts at the seeds, each
-- with its weight, and at the memories of the concepts that the query names (weight 1, one step). A step over a concept
-- leaves weight * decay / sqrt(df) where df is how many memories mention it: rare concepts say more. A memory's score is
-- the sum over the walks that reach it; no walk goes straight back. Every fan-out is capped, and so is the counting of
-- df: a hub costs no more than any other concept. Two steps written out, since of a recursion the planner expects ten
-- times as much at every turn, and compiles what it takes for expensive.
--
-- concepts                what the query names (named_concepts)
-- seed_ids, seed_weights  where to start, best first
-- also                    memories of which it is known that they match: they come with their score, without a rank, if
--                         the list reaches them after depth
-- frontier                how many of the best walks go on at each step
-- neighbours              how many memories each of them, and each concept of the query, leads to
-- hops                    how many steps; 0 finds nothing
CREATE OR REPLACE FUNCTION pgrecall.graph_walk(
    namespace_id integer, concepts bigint[], seed_ids bigint[], seed_weights double precision[],
    filter pgrecall.recall_filter, also bigint[], depth integer, frontier integer,
    neighbours integer, hops integer, decay double precision, df_min integer, df_max integer
)
RETURNS TABLE (id bigint, rank integer, score double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50
BEGIN ATOMIC
    WITH first AS MATERIALIZED (
        SELECT n.neighbour_id AS memory_id, s.id AS origin, s.weight * decay / sqrt(n.df) AS weight
        FROM (
            SELECT u.id, u.weight FROM unnest(seed_ids, seed_weights) u (id, weight) ORDER BY u.weight DESC, u.id LIMIT frontier
        ) s
        CROSS JOIN LATERAL pgrecall.graph_step(s.id, neighbours, df_min, df_max) n
        WHERE hops > 0
        UNION ALL
        SELECT n.memory_id, NULL::bigint, decay / sqrt(c.df)
        FROM unnest(concepts) q (concept_id)
        CROSS JOIN LATERAL (
            SELECT count(*) AS df
            FROM (SELECT FROM pgrecall.mentions m WHERE m.concept_id = q.concept_id LIMIT df_max + 1) counted
        ) c
        CROSS JOIN LATERAL (
            SELECT DISTINCT m.memory_id FROM pgrecall.mentions m
            WHERE m.concept_id = q.concept_id ORDER BY m.memory_id DESC LIMIT neighbours
        ) n
        WHERE hops > 0 AND c.df BETWEEN 1 AND df_max
    ), second AS (
        SELECT n.neighbour_id, f.weight * decay / sqrt(n.df) AS weight
        FROM (
            SELECT x.memory_id, x.origin, x.weight FROM first x ORDER BY x.weight DESC, x.memory_id, x.origin LIMIT frontier
        ) f
        CROSS JOIN LATERAL pgrecall.graph_step(f.memory_id, neighbours, df_min, df_max) n
        WHERE hops > 1 AND n.neighbour_id IS DISTINCT FROM f.origin
    ), reached AS MATERIALIZED (
        -- In order, so that no more of them are looked at than it takes to fill the list.
        SELECT w.memory_id, sum(w.weight) AS weight
        FROM (SELECT x.memory_id, x.weight FROM first x UNION ALL SELECT y.neighbour_id, y.weight FROM second y) w
        GROUP BY w.memory_id
        ORDER BY weight DESC, w.memory_id
    ), listed AS MATERIALIZED (
        SELECT m.id, r.weight
        FROM reached r
        JOIN pgrecall.memories m ON m.id = r.memory_id
        WHERE m.namespace_id = graph_walk.namespace_id AND pgrecall.matches(m, filter)
        ORDER BY r.weight DESC, r.memory_id
        LIMIT depth
    )
    SELECT l.id, (row_number() OVER (ORDER BY l.weight DESC, l.id))::integer, l.weight FROM listed l
    UNION ALL
    SELECT r.memory_id, NULL, r.weight
    FROM reached r
    WHERE r.memory_id = ANY (also) AND NOT EXISTS (SELECT FROM listed l WHERE l.id = r.memory_id);
END;

COMMENT ON FUNCTION pgrecall.graph_walk IS
    'Memories that share concepts with the query or with the seeds: a capped walk of one or two steps, rare concepts counting more.';
