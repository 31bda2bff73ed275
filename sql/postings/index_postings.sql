-- Adds memories to the postings and the lexicon of a namespace. The caller holds try_lock_postings().
--
-- New postings of a term become blocks of their own, best impact first, so no block is rewritten. When a term has more
-- than 16 blocks that are less than half full, those are merged (merge_posting_blocks).
--
-- memory_ids, vectors  memories that are not in the postings, with their search_vector
CREATE OR REPLACE FUNCTION _pgrecall.index_postings(namespace_id integer, memory_ids bigint[], vectors tsvector[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    settings pgrecall.bm25_parameters := _pgrecall.bm25_parameters();
    crowded text[];
BEGIN
    WITH posting AS (
        SELECT i.term, i.impact, v.id,
               (row_number() OVER (PARTITION BY i.term ORDER BY i.impact DESC, v.id) - 1) / 128 AS part
        FROM unnest(index_postings.memory_ids, index_postings.vectors) v (id, vector)
        CROSS JOIN LATERAL _pgrecall.term_impacts(v.vector, settings) i
    ), block AS MATERIALIZED (
        SELECT p.term, max(p.impact) AS top_impact,
               array_agg(p.id ORDER BY p.impact DESC, p.id) AS ids,
               array_agg(p.impact ORDER BY p.impact DESC, p.id) AS impacts
        FROM posting p
        GROUP BY p.term, p.part
    ), stored AS (
        INSERT INTO pgrecall.postings (namespace_id, term, top_impact, memory_ids, impacts)
        SELECT index_postings.namespace_id, b.term, b.top_impact, b.ids, b.impacts
        FROM block b
        ORDER BY b.term, b.top_impact DESC
    ), counted AS (
        INSERT INTO pgrecall.term_stats AS l (namespace_id, term, documents, small_blocks)
        SELECT index_postings.namespace_id, b.term, sum(cardinality(b.ids)), count(*) FILTER (WHERE cardinality(b.ids) < 64)
        FROM block b
        GROUP BY b.term
        UNION ALL
        SELECT index_postings.namespace_id, '', count(*), 0 FROM unnest(index_postings.vectors) v (vector) WHERE v.vector <> '' HAVING count(*) > 0
        ON CONFLICT ON CONSTRAINT term_stats_pkey DO UPDATE
        SET documents = l.documents + excluded.documents, small_blocks = l.small_blocks + excluded.small_blocks
        RETURNING l.term, l.small_blocks
    )
    SELECT array_agg(c.term) INTO crowded FROM counted c WHERE c.small_blocks > 16;
    IF crowded IS NOT NULL THEN
        PERFORM _pgrecall.merge_posting_blocks(namespace_id, crowded);
    END IF;
END
$function$;

COMMENT ON FUNCTION _pgrecall.index_postings IS 'Adds memories to the postings and the lexicon of a namespace.';
