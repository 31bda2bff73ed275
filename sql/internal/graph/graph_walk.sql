-- The walk of the graph leg: memories that share concepts with the best hits of the other legs, and how near that brings them.
--
-- From each seed one step, and a second one from the best that were reached (graph_step). A memory is reached from several
-- sides: one row for each level that it is drawn to, with the largest share of the way there. No walk goes back to a
-- seed's own level. Two steps written out, since of a recursion the planner expects ten times as much at every turn, and
-- compiles what it takes for expensive.
--
-- seed_ids, seed_levels  where to start, and the score of each
-- known    memories that are candidates already: they come with their shares whatever their place
-- depth    how many others at the most, those first that could rise highest
-- hops     how many steps, 0 to 2;  decay  what each leaves of a level
-- concepts, df_max, weight, mention  see graph_step
CREATE OR REPLACE FUNCTION _pgrecall.graph_walk(
    namespace_id integer, seed_ids bigint[], seed_levels double precision[],
    filter pgrecall.recall_filter, known bigint[], depth integer, concepts integer, hops integer, decay double precision,
    df_max integer, weight double precision, mention double precision
)
RETURNS TABLE (id bigint, share double precision, level double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
    WITH first AS MATERIALIZED (
        SELECT n.neighbour_id AS memory_id, n.share, decay * s.level AS level
        FROM unnest(seed_ids, seed_levels) s (id, level)
        CROSS JOIN LATERAL _pgrecall.graph_step(s.id, concepts, df_max, weight, mention) n
        WHERE hops > 0
    ), link AS MATERIALIZED (
        SELECT f.memory_id, f.share, f.level FROM first f
        UNION ALL
        SELECT n.neighbour_id, n.share, decay * f.level
        FROM (
            SELECT x.memory_id, max(x.share * x.level) AS level
            FROM first x
            WHERE hops > 1 AND x.memory_id <> ALL (seed_ids)
            GROUP BY x.memory_id
            ORDER BY 2 DESC, 1
            LIMIT cardinality(seed_ids)
        ) f
        CROSS JOIN LATERAL _pgrecall.graph_step(f.memory_id, concepts, df_max, weight, mention) n
    ), reached AS MATERIALIZED (
        -- In order, so that no more of them are looked at than it takes to fill the list.
        SELECT l.memory_id, max(l.share * l.level) AS reach
        FROM link l
        WHERE NOT EXISTS (SELECT FROM unnest(known) k (id) WHERE k.id = l.memory_id)
        GROUP BY l.memory_id
        ORDER BY 2 DESC, 1
    ), listed AS MATERIALIZED (
        SELECT m.id
        FROM reached r
        JOIN pgrecall.memories m ON m.id = r.memory_id
        -- Not by the namespace, as in bm25_postings.
        WHERE m.namespace_id + 0 = graph_walk.namespace_id AND _pgrecall.matches_filter(m, filter)
        ORDER BY r.reach DESC, r.memory_id
        LIMIT depth
    )
    SELECT l.memory_id, max(l.share), l.level
    FROM link l
    JOIN (SELECT i.id FROM listed i UNION ALL SELECT k.id FROM unnest(known) k (id)) wanted ON wanted.id = l.memory_id
    GROUP BY l.memory_id, l.level;
END;

COMMENT ON FUNCTION _pgrecall.graph_walk IS
    'Memories that share concepts with the seeds, with the level each is drawn to and how far: a capped walk of one or two steps.';
