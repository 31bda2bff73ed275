-- Replaces the times of memories, which the trigger found when they were stored, by the extracted ones, and adds those that
-- extractors do not look for: in languages of Asia, and days before months in numbers.
--
-- A memory without "times" keeps its times: its extractor does not look for them.
--
-- items see complete_extractions, with a namespace_id in each item
CREATE OR REPLACE FUNCTION _pgrecall.store_extracted_times(items jsonb)
RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    DELETE FROM pgrecall.temporal_refs t
    WHERE t.memory_id IN (SELECT (r.item ->> 'memory_id')::bigint FROM jsonb_array_elements(items) r (item) WHERE r.item ? 'times');
    INSERT INTO pgrecall.temporal_refs (memory_id, namespace_id, span, from_at, to_at, granularity, confidence, source)
    SELECT (r.item ->> 'memory_id')::bigint, (r.item ->> 'namespace_id')::integer, int4range(t.start, t."end"),
           t.from_at, t.to_at, t.granularity, least(greatest(COALESCE(t.confidence, 1), 0), 1), t.source
    FROM jsonb_array_elements(items) r (item)
    CROSS JOIN LATERAL jsonb_to_recordset(r.item -> 'times') t (
        start integer, "end" integer, from_at timestamptz, to_at timestamptz, granularity text, confidence real, source text
    )
    WHERE t.from_at < t.to_at AND t.start < t."end"
    ON CONFLICT DO NOTHING;
    INSERT INTO pgrecall.temporal_refs (memory_id, namespace_id, span, from_at, to_at)
    SELECT m.id, m.namespace_id, r.span, lower(r.period), upper(r.period)
    FROM jsonb_array_elements(items) i (item)
    JOIN pgrecall.memories m ON m.id = (i.item ->> 'memory_id')::bigint
    CROSS JOIN LATERAL _pgrecall.temporal_references(m.content, COALESCE(m.occurred_at, m.created_at)) r
    WHERE i.item ? 'times' AND NOT m.is_sensitive AND m.deleted_at IS NULL
      AND m.content ~ '[^\u0001-\u007f]|\d[./-]\d'  -- others hold no such time, and are not read again
      AND substr(m.content, lower(r.span) + 1, upper(r.span) - lower(r.span)) ~ '[^\u0001-\u007f]|^\d{1,2}[./-]\d'
      AND NOT EXISTS (SELECT FROM pgrecall.temporal_refs o WHERE o.memory_id = m.id AND o.span && r.span)
    ON CONFLICT DO NOTHING;
END;
