-- Returns memories that are about a query concept, and memories that are about or mention a related concept.
--
-- A memory that only mentions a query concept contains its name, so the lexical leg has already counted it. For a
-- related hub, only memories about it are returned.
--
-- concepts  the concepts that the query names (named_concepts)
-- depth     maximum number of memories
-- decay     factor applied to the weight for each relationship
-- weight, mention  see link_weight
-- implied   concepts that the query implies (implied_concepts), at implied_share of the weight; relations are ignored
CREATE OR REPLACE FUNCTION _pgrecall.concept_candidates(
    namespace_id integer, concepts bigint[], filter pgrecall.recall_filter, depth integer,
    decay double precision, hub_max_mentions integer, weight double precision, mention double precision,
    implied bigint[] DEFAULT NULL, implied_share double precision DEFAULT NULL
)
RETURNS TABLE (id bigint, share double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 20
BEGIN ATOMIC
    WITH start AS MATERIALIZED (
        SELECT s.concept_id, max(s.weight) AS weight, max(s.mention) AS mention
        FROM (
            SELECT q.concept_id, concept_candidates.weight, 0 AS mention FROM unnest(concepts) q (concept_id)
            UNION ALL
            SELECT r.related_id, concept_candidates.weight * decay * r.weight, mention
            FROM unnest(concepts) q (concept_id)
            CROSS JOIN LATERAL _pgrecall.related_concepts(q.concept_id, (filter).as_of) r
            WHERE decay > 0
            UNION ALL
            SELECT i.concept_id, concept_candidates.weight * implied_share, 0 FROM unnest(implied) i (concept_id)
        ) s
        GROUP BY s.concept_id
    ), reached AS MATERIALIZED (
        SELECT n.memory_id, max(_pgrecall.link_weight(s.weight, c.df, n.is_about, s.mention)) AS share
        FROM start s
        CROSS JOIN LATERAL _pgrecall.concept_memories(s.concept_id, hub_max_mentions) c
        CROSS JOIN LATERAL unnest(c.memory_ids, c.are_about) n (memory_id, is_about)
        WHERE n.is_about OR (s.mention > 0 AND c.df <= hub_max_mentions)
        GROUP BY n.memory_id
        ORDER BY 2 DESC, 1
    )
    SELECT m.id, r.share
    FROM reached r
    JOIN pgrecall.memories m ON m.id = r.memory_id
    -- No namespace condition, and IS TRUE, for the reasons given in bm25_postings.
    WHERE m.namespace_id + 0 = concept_candidates.namespace_id AND _pgrecall.matches_filter(m, filter) IS TRUE
    ORDER BY r.share DESC, r.memory_id
    LIMIT depth;
END;
