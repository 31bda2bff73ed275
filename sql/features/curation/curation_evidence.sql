-- Returns evidence for and against two memories saying the same, as numbers and booleans without any text.
--
-- In addition to the results of text_overlap_stats() and change_cues():
--
-- cosine            NULL if either has no embedding
-- concepts_shared, concepts_old, concepts_new   number of mentioned concepts
-- is_other_subject  both are about concepts, but share none
-- is_other_time     the times they mention or are valid at do not overlap
-- is_other_speaker  different speakers said them
-- is_earlier        the new memory is about an earlier occasion than the old one
-- covers_old, covers_new  whether every filter that finds the old memory, or the new one, finds the other too (covers)
-- is_less_trusted, is_more_trusted  the origin of the new memory is less, or more, trusted
CREATE OR REPLACE FUNCTION _pgrecall.curation_evidence(memory_id bigint, other_id bigint, cosine double precision)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT jsonb_strip_nulls(jsonb_build_object('cosine', round(curation_evidence.cosine::numeric, 4)))
           || t.compared || _pgrecall.change_cues(t.old_text, t.new_text, t.compared)
           || jsonb_build_object(
               'concepts_shared', c.shared, 'concepts_old', c.old, 'concepts_new', c.new,
               'is_other_subject', c.old_subjects IS NOT NULL AND c.new_subjects IS NOT NULL
                                   AND NOT c.old_subjects && c.new_subjects,
               'is_other_time',
               NOT COALESCE(tstzrange(o.valid_from, o.valid_to, '[]') && tstzrange(n.valid_from, n.valid_to, '[]'), true)
               OR (EXISTS (SELECT FROM pgrecall.temporal_refs r WHERE r.memory_id = o.id)
                   AND EXISTS (SELECT FROM pgrecall.temporal_refs r WHERE r.memory_id = n.id)
                   AND NOT EXISTS (
                       SELECT FROM pgrecall.temporal_refs a
                       JOIN pgrecall.temporal_refs b ON b.memory_id = n.id AND a.from_at < b.to_at AND b.from_at < a.to_at
                       WHERE a.memory_id = o.id
                   )),
               'is_other_speaker', COALESCE(o.speaker <> n.speaker, false),
               -- Without a time of its own a new memory is of when it was stored, which an import says.
               'is_earlier', COALESCE(
                   COALESCE(n.occurred_at, n.created_at) < COALESCE(o.occurred_at, CASE WHEN n.occurred_at IS NULL THEN o.created_at END),
                   false
               ),
               'covers_old', _pgrecall.covers(n, o), 'covers_new', _pgrecall.covers(o, n),
               'is_less_trusted', n.origin < o.origin,
               'is_more_trusted', n.origin > o.origin
           )
    FROM pgrecall.memories n
    JOIN pgrecall.memories o ON o.id = curation_evidence.other_id
    CROSS JOIN LATERAL (
        SELECT w.old_text, w.new_text, _pgrecall.text_overlap_stats(w.old_text, w.new_text) AS compared
        FROM (SELECT concat_ws(E'\n', o.title, o.content) AS old_text, concat_ws(E'\n', n.title, n.content) AS new_text) w
        OFFSET 0
    ) t
    CROSS JOIN LATERAL (
        SELECT count(DISTINCT a.concept_id) FILTER (WHERE a.memory_id = o.id) AS old,
               count(DISTINCT a.concept_id) FILTER (WHERE a.memory_id = n.id) AS new,
               count(DISTINCT a.concept_id) FILTER (WHERE a.memory_id = n.id AND EXISTS (
                   SELECT FROM pgrecall.mentions b WHERE b.memory_id = o.id AND b.concept_id = a.concept_id
               )) AS shared,
               array_agg(a.concept_id) FILTER (WHERE a.memory_id = o.id AND a.is_about) AS old_subjects,
               array_agg(a.concept_id) FILTER (WHERE a.memory_id = n.id AND a.is_about) AS new_subjects
        FROM pgrecall.mentions a
        WHERE a.memory_id IN (o.id, n.id)
    ) c
    WHERE n.id = curation_evidence.memory_id AND NOT n.is_sensitive AND NOT o.is_sensitive;
END;
