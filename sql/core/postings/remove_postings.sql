-- Removes memories from the postings and the lexicon of a namespace. The caller holds try_lock_postings().
--
-- It finds each memory in the current postings or in those of the past, wherever it is. A block whose best posting stays
-- keeps its place in the index: such updates are HOT, and need no vacuum.
--
-- memory_ids, vectors  memories with the search_vector they were indexed with
-- were_past            in which postings to count a memory that has none, as all its words have weight 0
--
-- No hash or merge join: both would read the postings of every term.
CREATE OR REPLACE FUNCTION _pgrecall.remove_postings(
    namespace_id integer, memory_ids bigint[], vectors tsvector[], were_past boolean[] DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $function$
DECLARE
    removed_ids bigint[];
    removed_past boolean[];
    crowded text[];
BEGIN
    WITH gone AS MATERIALIZED (
        SELECT u.lexeme AS term, array_agg(v.id) AS ids
        FROM unnest(remove_postings.memory_ids, remove_postings.vectors) v (id, vector)
        CROSS JOIN LATERAL unnest(v.vector) u
        GROUP BY u.lexeme
    ), found AS (
        SELECT p.ctid AS address, p.term, p.is_past, p.memory_ids, p.impacts, g.ids AS gone_ids
        FROM gone g
        JOIN pgrecall.postings p
          ON p.namespace_id = remove_postings.namespace_id AND p.term = g.term AND p.memory_ids && g.ids
    ), block AS MATERIALIZED (
        SELECT t.address, t.term, t.is_past, cardinality(t.memory_ids) AS size, k.top_impact, k.ids, k.impacts, k.gone_ids
        FROM found t
        CROSS JOIN LATERAL (
            SELECT max(u.impact) FILTER (WHERE NOT u.is_gone) AS top_impact,
                   array_agg(u.id ORDER BY u.place) FILTER (WHERE NOT u.is_gone) AS ids,
                   array_agg(u.impact ORDER BY u.place) FILTER (WHERE NOT u.is_gone) AS impacts,
                   array_agg(u.id) FILTER (WHERE u.is_gone) AS gone_ids
            FROM (
                SELECT x.id, x.impact, x.place, x.id = ANY (t.gone_ids) AS is_gone
                FROM unnest(t.memory_ids, t.impacts) WITH ORDINALITY x (id, impact, place)
            ) u
        ) k
    ), emptied AS (
        DELETE FROM pgrecall.postings p USING block b WHERE p.ctid = b.address AND b.ids IS NULL
    ), thinned AS (
        UPDATE pgrecall.postings p SET top_impact = b.top_impact, memory_ids = b.ids, impacts = b.impacts
        FROM block b
        WHERE p.ctid = b.address AND b.ids IS NOT NULL
    ), counted AS (
        UPDATE pgrecall.term_stats l
        SET documents = l.documents - c.documents, small_blocks = l.small_blocks + c.small_blocks
        FROM (
            SELECT b.term, b.is_past, sum(cardinality(b.gone_ids)) AS documents,
                   count(*) FILTER (WHERE cardinality(b.ids) < 64) - count(*) FILTER (WHERE b.size < 64) AS small_blocks
            FROM block b
            GROUP BY b.term, b.is_past
        ) c
        WHERE l.namespace_id = remove_postings.namespace_id AND l.term = c.term AND l.is_past = c.is_past
        RETURNING l.term, l.small_blocks
    ), removed AS (
        SELECT DISTINCT u.id, b.is_past FROM block b CROSS JOIN LATERAL unnest(b.gone_ids) u (id)
    )
    SELECT (SELECT array_agg(r.id ORDER BY r.id) FROM removed r), (SELECT array_agg(r.is_past ORDER BY r.id) FROM removed r),
           (SELECT array_agg(DISTINCT c.term) FROM counted c WHERE c.small_blocks > 16)
    INTO removed_ids, removed_past, crowded;

    UPDATE pgrecall.term_stats l
    SET documents = l.documents - c.documents
    FROM (
        SELECT COALESCE(r.is_past, v.is_past, false) AS is_past, count(*) AS documents
        FROM unnest(remove_postings.memory_ids, remove_postings.vectors, remove_postings.were_past) v (id, vector, is_past)
        LEFT JOIN unnest(removed_ids, removed_past) r (id, is_past) ON r.id = v.id
        WHERE v.vector <> ''
        GROUP BY 1
    ) c
    WHERE l.namespace_id = remove_postings.namespace_id AND l.term = '' AND l.is_past = c.is_past;
    DELETE FROM pgrecall.term_stats l
    WHERE l.namespace_id = remove_postings.namespace_id AND l.documents = 0
      AND (l.term = '' OR l.term IN (SELECT unnest(tsvector_to_array(v.vector)) FROM unnest(remove_postings.vectors) v (vector)));
    IF crowded IS NOT NULL THEN
        PERFORM _pgrecall.merge_posting_blocks(namespace_id, crowded);
    END IF;
    PERFORM _pgrecall.note_posting_changes(namespace_id, cardinality(memory_ids));
END
$function$;
