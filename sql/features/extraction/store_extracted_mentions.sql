-- Stores mentions of concepts, and sets each concept's type to that of its most confident mention.
--
-- _pgrecall.upsert_concepts has inserted the concepts and holds locks on their names. Any type replaces the unspecific type
-- CONCEPT; otherwise the more confident mention decides. A source that is not in pgrecall.mention_source is stored as other.
--
-- Looks rows up one by one (LATERAL … LIMIT 1), because the tables have no statistics yet after a bulk load.
--
-- items see complete_extractions, with a namespace_id in each item
CREATE OR REPLACE FUNCTION _pgrecall.store_extracted_mentions(items jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    WITH extracted AS MATERIALIZED (
        SELECT DISTINCT ON (memory_id, normal.alias, source)
               (r.item ->> 'memory_id')::bigint AS memory_id, (r.item ->> 'namespace_id')::integer AS namespace_id,
               normal.alias, COALESCE(known.source, 'other') AS source, NULLIF(m.type, 'CONCEPT') AS type,
               least(greatest(COALESCE(m.confidence, 1), 0), 1) AS confidence, COALESCE(m.is_about, false) AS is_about
        FROM jsonb_array_elements(items) r (item)
        CROSS JOIN LATERAL jsonb_to_recordset(r.item -> 'mentions') m (
            name text, type text, start integer, confidence real, source text, is_about boolean
        )
        -- OFFSET 0: normalises each name once, not at each use.
        CROSS JOIN LATERAL (SELECT pgrecall.normalize_name(m.name) AS alias WHERE length(m.name) <= 200 OFFSET 0) normal
        LEFT JOIN unnest(enum_range(NULL::pgrecall.mention_source)) known (source) ON known.source::text = m.source
        WHERE length(normal.alias) BETWEEN 1 AND 200
        ORDER BY memory_id, normal.alias, source, m.confidence DESC, m.start
    ), linked AS (
        INSERT INTO pgrecall.mentions AS x
            (namespace_id, concept_id, memory_id, alias_id, source, type, confidence, is_about)
        SELECT s.namespace_id, a.concept_id, s.memory_id, a.id, s.source, s.type, s.confidence, s.is_about
        FROM extracted s
        CROSS JOIN LATERAL (
            SELECT a.concept_id, a.id FROM pgrecall.concept_aliases a
            WHERE a.namespace_id = s.namespace_id AND a.alias = s.alias
            LIMIT 1
        ) a
        ON CONFLICT DO NOTHING
        RETURNING x.concept_id, x.type, x.confidence
    ), surest AS (
        SELECT DISTINCT ON (l.concept_id) l.concept_id, l.type, l.confidence
        FROM linked l
        WHERE l.type IS NOT NULL
        ORDER BY l.concept_id, l.confidence DESC, l.type
    ), changing AS MATERIALIZED (
        SELECT c.id, s.type, s.confidence
        FROM surest s
        CROSS JOIN LATERAL (
            SELECT c.id FROM pgrecall.concepts c
            WHERE c.id = s.concept_id AND (c.type = 'CONCEPT' OR c.type_confidence < s.confidence)
            LIMIT 1
            FOR NO KEY UPDATE
        ) c
    )
    UPDATE pgrecall.concepts c SET type = g.type, type_confidence = g.confidence FROM changing g WHERE c.id = g.id;
END
$function$;
