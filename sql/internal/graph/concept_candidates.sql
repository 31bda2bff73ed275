-- The memories that the query's concepts lead to: those about them, and those about or mentioning a concept related to them.
--
-- A memory that mentions a concept of the query holds its name, and has been counted for its words. Of a hub that is
-- related, only those that are about it.
--
-- concepts  what the query names (named_concepts)
-- depth     how many memories at the most
-- decay     what a relationship leaves of the weight
-- weight, mention  see link_weight
-- implied   what it means without naming it (implied_concepts), with implied_share of the weight; their relations do not count
CREATE OR REPLACE FUNCTION _pgrecall.concept_candidates(
    namespace_id integer, concepts bigint[], filter pgrecall.recall_filter, depth integer,
    decay double precision, df_max integer, weight double precision, mention double precision,
    implied bigint[] DEFAULT NULL, implied_share double precision DEFAULT NULL
)
RETURNS TABLE (id bigint, share double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 20
BEGIN ATOMIC
    WITH start AS MATERIALIZED (
        SELECT s.concept_id, max(s.weight) AS weight, max(s.mention) AS mention
        FROM (
            SELECT q.concept_id, weight, 0 AS mention FROM unnest(concepts) q (concept_id)
            UNION ALL
            SELECT r.related_id, weight * decay * r.weight, mention
            FROM unnest(concepts) q (concept_id)
            CROSS JOIN LATERAL _pgrecall.related_concepts(q.concept_id, (filter).as_of) r
            WHERE decay > 0
            UNION ALL
            SELECT i.concept_id, weight * implied_share, 0 FROM unnest(implied) i (concept_id)
        ) s
        GROUP BY s.concept_id
    ), reached AS MATERIALIZED (
        SELECT n.memory_id, max(_pgrecall.link_weight(s.weight, c.df, n.is_about, s.mention)) AS share
        FROM start s
        CROSS JOIN LATERAL _pgrecall.concept_memories(s.concept_id, df_max) c
        CROSS JOIN LATERAL unnest(c.memory_ids, c.are_about) n (memory_id, is_about)
        WHERE n.is_about OR (s.mention > 0 AND c.df <= df_max)
        GROUP BY n.memory_id
        ORDER BY 2 DESC, 1
    )
    SELECT m.id, r.share
    FROM reached r
    JOIN pgrecall.memories m ON m.id = r.memory_id
    -- Not by the namespace, as in bm25_postings.
    WHERE m.namespace_id + 0 = concept_candidates.namespace_id AND _pgrecall.matches_filter(m, filter)
    ORDER BY r.share DESC, r.memory_id
    LIMIT depth;
END;

COMMENT ON FUNCTION _pgrecall.concept_candidates IS
    'The memories that are about a concept the query names, and those about or mentioning a concept related to it.';
