-- Walks from the seeds to memories that share concepts with them, up to a number of hops; returns the level and share of
-- each boost.
--
-- A recursion with one row per step. PostgreSQL forbids aggregates over the recursive table itself, so each step stores
-- its links as arrays, unnests them and aggregates those. The seeds are the links of step 0. Each step starts
-- from the best memories that the previous step reached, at most as many as there are seeds, and never from the same
-- memory twice. Several links may reach a memory: the result has one row per level that they raise it to, with the
-- largest share.
--
-- The planner assumes that each iteration returns ten times the rows of the first term. The two conditions on the row
-- of the previous step cancel that factor, so the estimate stays far below jit_above_cost.
--
-- seed_ids, seed_levels  where to start, and the score of each
-- known    memories that are already candidates: returned with their shares, not counted in depth
-- depth    the maximum number of other memories, those with the highest possible score first
-- hops     number of steps, 0 to 3;  decay  the factor applied to the level at each step
-- concepts, hub_max_mentions, weight, mention  see graph_step
CREATE OR REPLACE FUNCTION _pgrecall.graph_walk(
    namespace_id integer, seed_ids bigint[], seed_levels double precision[],
    filter pgrecall.recall_filter, known bigint[], depth integer, concepts integer, hops integer, decay double precision,
    hub_max_mentions integer, weight double precision, mention double precision
)
RETURNS TABLE (id bigint, share double precision, level double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
    WITH RECURSIVE walk AS (
        SELECT 0 AS hop, seed_ids AS memory_ids, array_fill(1::double precision, ARRAY[COALESCE(cardinality(seed_ids), 0)]) AS shares,
               seed_levels AS levels, '{}'::bigint[] AS visited
        UNION ALL
        SELECT w.hop + 1, n.memory_ids, n.shares, n.levels, w.visited || f.memory_ids
        FROM walk w
        CROSS JOIN LATERAL (
            SELECT array_agg(b.memory_id) AS memory_ids, array_agg(b.level) AS levels
            FROM (
                SELECT l.memory_id, max(_pgrecall.graph_score(l.share, l.level)) AS level
                FROM unnest(w.memory_ids, w.shares, w.levels) l (memory_id, share, level)
                WHERE l.memory_id <> ALL (w.visited)
                GROUP BY l.memory_id
                ORDER BY 2 DESC, 1
                LIMIT cardinality(seed_ids)
            ) b
        ) f
        CROSS JOIN LATERAL (
            SELECT array_agg(s.neighbour_id) AS memory_ids, array_agg(s.share) AS shares, array_agg(decay * b.level) AS levels
            FROM unnest(f.memory_ids, f.levels) b (memory_id, level)
            CROSS JOIN LATERAL _pgrecall.graph_step(b.memory_id, concepts, hub_max_mentions, weight, mention) s
        ) n
        WHERE w.hop < hops AND cardinality(w.memory_ids) > 0
    ), link AS MATERIALIZED (
        SELECT l.memory_id, l.share, l.level
        FROM walk w
        CROSS JOIN LATERAL unnest(w.memory_ids, w.shares, w.levels) l (memory_id, share, level)
        WHERE w.hop > 0
    ), reached AS MATERIALIZED (
        -- Sorted, so that the filter runs only until the list is full.
        SELECT l.memory_id, max(_pgrecall.graph_score(l.share, l.level)) AS reach
        FROM link l
        WHERE NOT EXISTS (SELECT FROM unnest(known) k (id) WHERE k.id = l.memory_id)
        GROUP BY l.memory_id
        ORDER BY 2 DESC, 1
    ), listed AS MATERIALIZED (
        SELECT m.id
        FROM reached r
        JOIN pgrecall.memories m ON m.id = r.memory_id
        -- No namespace condition, and IS TRUE, for the reasons given in bm25_postings.
        WHERE m.namespace_id + 0 = graph_walk.namespace_id AND _pgrecall.matches_filter(m, filter) IS TRUE
        ORDER BY r.reach DESC, r.memory_id
        LIMIT depth
    )
    SELECT l.memory_id, max(l.share), l.level
    FROM link l
    JOIN (SELECT i.id FROM listed i UNION ALL SELECT k.id FROM unnest(known) k (id)) wanted ON wanted.id = l.memory_id
    GROUP BY l.memory_id, l.level;
END;
