-- Removes mentions of names that a memory no longer contains. Returns those names.
--
-- is_gone    removes all its mentions, from every source, and its evidence
-- is_reread  removes the mentions found in its text, and its evidence
CREATE OR REPLACE FUNCTION _pgrecall.remove_mentions(memory_id bigint, is_gone boolean, is_reread boolean)
RETURNS pgrecall.naming[]
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    lost pgrecall.naming[];
    home integer;
    labels text[];
BEGIN
    WITH removed AS (
        DELETE FROM pgrecall.mentions m
        USING pgrecall.concept_aliases a
        WHERE a.concept_id = m.concept_id AND a.id = m.alias_id AND m.memory_id = remove_mentions.memory_id
          AND CASE
              WHEN is_gone THEN true
              WHEN m.source NOT IN ('tag', 'keyword') THEN is_reread
              ELSE (m.source, m.namespace_id, a.alias) NOT IN (
                  SELECT s.source::pgrecall.mention_source, s.namespace_id, s.alias
                  FROM _pgrecall.declared_concepts(ARRAY[remove_mentions.memory_id]) s
              )
          END
        RETURNING m.namespace_id, a.alias
    )
    SELECT COALESCE(array_agg(DISTINCT ROW (r.namespace_id, r.alias, NULL)::pgrecall.naming), '{}') INTO lost FROM removed r;
    IF is_gone OR is_reread THEN
        SELECT r.namespace_id, array_agg(DISTINCT e.label) INTO home, labels
        FROM pgrecall.relationship_evidence e
        JOIN pgrecall.relationships r ON r.id = e.relationship_id
        WHERE e.memory_id = remove_mentions.memory_id
        GROUP BY r.namespace_id;
        lost := lost || _pgrecall.remove_evidence(ARRAY[remove_mentions.memory_id]);
        PERFORM _pgrecall.remove_unused_labels(home, labels) WHERE home IS NOT NULL;
    END IF;
    RETURN lost;
END
$function$;
