-- Adds memories to the postings and the lexicon of a namespace. The caller holds try_lock_postings().
--
-- New postings of a term become blocks of their own, best impact first, so no block is rewritten. When a list has more
-- than 16 blocks that are less than half full, those are merged (merge_posting_blocks).
--
-- memory_ids, vectors  memories that are not in the postings, with their search_vector
-- are_past             whether each goes to the postings of the past (is_past); NULL: none
CREATE OR REPLACE FUNCTION _pgrecall.index_postings(
    namespace_id integer, memory_ids bigint[], vectors tsvector[], are_past boolean[] DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    settings pgrecall.bm25_parameters := _pgrecall.bm25_parameters();
    crowded text[];
BEGIN
    WITH memory AS MATERIALIZED (
        SELECT v.id, v.vector, _pgrecall.count_words(v.vector) AS length, COALESCE(v.is_past, false) AS is_past
        FROM unnest(index_postings.memory_ids, index_postings.vectors, index_postings.are_past) v (id, vector, is_past)
    ), posting AS (
        SELECT i.term, v.is_past, i.impact, v.id,
               (row_number() OVER (PARTITION BY i.term, v.is_past ORDER BY i.impact DESC, v.id) - 1) / 128 AS part
        FROM memory v
        CROSS JOIN LATERAL _pgrecall.term_impacts(v.vector, settings, NULL, v.length) i
    ), block AS MATERIALIZED (
        SELECT p.term, p.is_past, max(p.impact) AS top_impact,
               array_agg(p.id ORDER BY p.impact DESC, p.id) AS ids,
               array_agg(p.impact ORDER BY p.impact DESC, p.id) AS impacts
        FROM posting p
        GROUP BY p.term, p.is_past, p.part
    ), stored AS (
        INSERT INTO pgrecall.postings (namespace_id, term, is_past, top_impact, memory_ids, impacts)
        SELECT index_postings.namespace_id, b.term, b.is_past, b.top_impact, b.ids, b.impacts
        FROM block b
        ORDER BY b.term, b.is_past, b.top_impact DESC, b.ids[1]
    ), counted AS (
        INSERT INTO pgrecall.term_stats AS l (namespace_id, term, is_past, documents, small_blocks)
        SELECT index_postings.namespace_id, b.term, b.is_past, sum(cardinality(b.ids)),
               count(*) FILTER (WHERE cardinality(b.ids) < 64)
        FROM block b
        GROUP BY b.term, b.is_past
        UNION ALL
        SELECT index_postings.namespace_id, '', v.is_past, count(*), 0 FROM memory v WHERE v.vector <> '' GROUP BY v.is_past
        ON CONFLICT ON CONSTRAINT term_stats_pkey DO UPDATE
        SET documents = l.documents + excluded.documents, small_blocks = l.small_blocks + excluded.small_blocks
        RETURNING l.term, l.small_blocks
    )
    SELECT array_agg(DISTINCT c.term) INTO crowded FROM counted c WHERE c.small_blocks > 16;
    IF crowded IS NOT NULL THEN
        PERFORM _pgrecall.merge_posting_blocks(namespace_id, crowded);
    END IF;
    PERFORM _pgrecall.note_posting_changes(namespace_id, cardinality(memory_ids));
END
$function$;
