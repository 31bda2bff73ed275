-- Removes memories from the postings and the lexicon of a namespace. The caller holds try_lock_postings().
--
-- memory_ids, vectors  memories with the search_vector they were indexed with
--
-- No hash or merge join: both would read the postings of every term.
CREATE OR REPLACE FUNCTION _pgrecall.remove_postings(namespace_id integer, memory_ids bigint[], vectors tsvector[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $function$
DECLARE
    vanished text[];
    crowded text[];
BEGIN
    WITH gone AS MATERIALIZED (
        SELECT u.lexeme AS term, array_agg(v.id) AS ids
        FROM unnest(remove_postings.memory_ids, remove_postings.vectors) v (id, vector)
        CROSS JOIN LATERAL unnest(v.vector) u
        GROUP BY u.lexeme
    ), taken AS (
        DELETE FROM pgrecall.postings p
        USING gone g
        WHERE p.namespace_id = remove_postings.namespace_id AND p.term = g.term AND p.memory_ids && g.ids
        RETURNING p.term, p.memory_ids, p.impacts, g.ids AS gone_ids
    ), block AS MATERIALIZED (
        SELECT t.term, cardinality(t.memory_ids) AS size, k.top_impact, k.ids, k.impacts
        FROM taken t
        CROSS JOIN LATERAL (
            SELECT max(u.impact) AS top_impact, array_agg(u.id ORDER BY u.place) AS ids,
                   array_agg(u.impact ORDER BY u.place) AS impacts
            FROM unnest(t.memory_ids, t.impacts) WITH ORDINALITY u (id, impact, place)
            WHERE u.id <> ALL (t.gone_ids)
        ) k
    ), stored AS (
        INSERT INTO pgrecall.postings (namespace_id, term, top_impact, memory_ids, impacts)
        SELECT remove_postings.namespace_id, b.term, b.top_impact, b.ids, b.impacts
        FROM block b
        WHERE b.ids IS NOT NULL
        ORDER BY b.term, b.top_impact DESC
    ), change AS (
        SELECT b.term, sum(b.size - COALESCE(cardinality(b.ids), 0)) AS documents,
               count(*) FILTER (WHERE cardinality(b.ids) < 64) - count(*) FILTER (WHERE b.size < 64) AS small_blocks
        FROM block b
        GROUP BY b.term
        UNION ALL
        SELECT '', count(*), 0 FROM unnest(remove_postings.vectors) v (vector) WHERE v.vector <> ''
    ), counted AS (
        UPDATE pgrecall.term_stats l
        SET documents = l.documents - c.documents, small_blocks = l.small_blocks + c.small_blocks
        FROM change c
        WHERE l.namespace_id = remove_postings.namespace_id AND l.term = c.term
        RETURNING l.term, l.documents, l.small_blocks
    )
    SELECT array_agg(c.term) FILTER (WHERE c.documents = 0), array_agg(c.term) FILTER (WHERE c.small_blocks > 16)
    INTO vanished, crowded
    FROM counted c;
    DELETE FROM pgrecall.term_stats l
    WHERE l.namespace_id = remove_postings.namespace_id AND l.term = ANY (vanished);
    IF crowded IS NOT NULL THEN
        PERFORM _pgrecall.merge_posting_blocks(namespace_id, crowded);
    END IF;
END
$function$;

COMMENT ON FUNCTION _pgrecall.remove_postings IS 'Removes memories from the postings and the lexicon of a namespace.';
