-- One step of the graph leg's walk: the memories that share concepts with one, those with the rarest in common first.
--
-- The mentions of a concept are read once and no further than df_max + 1: who mentions it, and whether it is a hub.
--
-- neighbours      how many memories at the most
-- df_min, df_max  concepts that fewer or more memories mention link nothing
-- df, in the result  how many memories mention the rarest concept they share
CREATE OR REPLACE FUNCTION pgrecall.graph_step(memory_id bigint, neighbours integer, df_min integer, df_max integer)
RETURNS TABLE (neighbour_id bigint, df integer)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    SELECT n.memory_id, min(c.df)
    FROM pgrecall.mentions own
    CROSS JOIN LATERAL (
        SELECT array_agg(x.memory_id) AS memory_ids, count(*)::integer AS df
        FROM (SELECT m.memory_id FROM pgrecall.mentions m WHERE m.concept_id = own.concept_id LIMIT df_max + 1) x
    ) c
    CROSS JOIN LATERAL unnest(c.memory_ids) n (memory_id)
    WHERE own.memory_id = graph_step.memory_id AND c.df BETWEEN df_min AND df_max AND n.memory_id <> own.memory_id
    GROUP BY n.memory_id
    ORDER BY sum(1 / sqrt(c.df)) DESC, n.memory_id DESC
    LIMIT neighbours;
END;

COMMENT ON FUNCTION pgrecall.graph_step IS
    'The memories that share concepts with one, those with the rarest in common first: one step of the graph leg.';
