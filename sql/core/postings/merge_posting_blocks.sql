-- Merges the blocks of some terms that are less than half full, or all blocks. The caller holds try_lock_postings().
--
-- The lateral query looks the terms up one by one. Without statistics, a plain join reads the postings of every term. So does
-- a hash or merge join by ctid.
--
-- whole  merge all blocks: the list is then in order, in as few blocks as possible
CREATE OR REPLACE FUNCTION _pgrecall.merge_posting_blocks(namespace_id integer, terms text[], whole boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $function$
BEGIN
    WITH taken AS (
        DELETE FROM pgrecall.postings p
        USING unnest(terms) t (term)
        CROSS JOIN LATERAL (
            SELECT s.ctid AS address
            FROM pgrecall.postings s
            WHERE s.namespace_id = merge_posting_blocks.namespace_id AND s.term = t.term
              AND (whole OR cardinality(s.memory_ids) < 64)
            OFFSET 0
        ) s
        WHERE p.ctid = s.address
        RETURNING p.term, p.is_past, p.memory_ids, p.impacts
    ), posting AS (
        SELECT t.term, t.is_past, u.impact, u.id,
               (row_number() OVER (PARTITION BY t.term, t.is_past ORDER BY u.impact DESC, u.id) - 1) / 128 AS part
        FROM taken t
        CROSS JOIN LATERAL unnest(t.memory_ids, t.impacts) u (id, impact)
    ), block AS MATERIALIZED (
        SELECT p.term, p.is_past, max(p.impact) AS top_impact,
               array_agg(p.id ORDER BY p.impact DESC, p.id) AS ids,
               array_agg(p.impact ORDER BY p.impact DESC, p.id) AS impacts
        FROM posting p
        GROUP BY p.term, p.is_past, p.part
    ), stored AS (
        INSERT INTO pgrecall.postings (namespace_id, term, is_past, top_impact, memory_ids, impacts)
        SELECT merge_posting_blocks.namespace_id, b.term, b.is_past, b.top_impact, b.ids, b.impacts
        FROM block b
        ORDER BY b.term, b.is_past, b.top_impact DESC, b.ids[1]
    )
    UPDATE pgrecall.term_stats l SET small_blocks = c.small_blocks
    FROM (
        SELECT b.term, b.is_past, count(*) FILTER (WHERE cardinality(b.ids) < 64) AS small_blocks
        FROM block b GROUP BY b.term, b.is_past
    ) c
    WHERE l.namespace_id = merge_posting_blocks.namespace_id AND l.term = c.term AND l.is_past = c.is_past;
END
$function$;
