-- Notes the pairs of concepts to ask a language model about: near by their embeddings, or by their letters, at most five per concept.
--
-- A pair that is there stays as it is, so it is asked once.
CREATE OR REPLACE FUNCTION _pgrecall.note_doubts(ids bigint[], namespace_id integer)
RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    INSERT INTO pgrecall.name_doubts (namespace_id, concept_id, other_id, nearness)
    SELECT note_doubts.namespace_id, least(d.id, d.alike_id), greatest(d.id, d.alike_id), max(d.nearness)
    FROM (
        SELECT f.id, f.alike_id, f.nearness, row_number() OVER (PARTITION BY f.id ORDER BY f.nearness DESC NULLS LAST, f.alike_id) AS place
        FROM (
            SELECT e.id, e.alike_id, e.nearness FROM _pgrecall.doubtful_concepts(ids, note_doubts.namespace_id) e
            UNION ALL
            SELECT own.id, a.alike_id, NULL
            FROM unnest(ids) own (id)
            CROSS JOIN LATERAL _pgrecall.similar_concepts(own.id, true) a
            WHERE a.method IS NULL
        ) f
    ) d
    WHERE d.place <= 5
    GROUP BY 1, 2, 3
    ON CONFLICT DO NOTHING;
END;
