-- Removes labels that no memory states any more, together with the decisions about them; the first label that mapped to one
-- takes its place.
--
-- If other labels mapped to a removed one, the first of those takes its place. Decisions by a person (rule) stay. The
-- caller holds _pgrecall.lock_relationships().
--
-- labels  labels stated by the memories just removed
CREATE OR REPLACE FUNCTION _pgrecall.remove_unused_labels(namespace_id integer, labels text[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    word text;
    canonical text;
    heir text;
    other record;
BEGIN
    FOR word IN
        SELECT l.alias FROM pgrecall.relation_labels l
        WHERE l.namespace_id = remove_unused_labels.namespace_id AND l.method <> 'rule'
          AND (l.alias = ANY (labels) OR l.label = ANY (labels))
        UNION
        SELECT l.label FROM pgrecall.relation_labels l
        WHERE l.namespace_id = remove_unused_labels.namespace_id AND l.method <> 'rule' AND l.label = ANY (labels)
        ORDER BY 1
    LOOP
        canonical := pgrecall.canonical_label(namespace_id, word);
        CONTINUE WHEN EXISTS (
            SELECT FROM pgrecall.relationships r
            JOIN pgrecall.relationship_evidence e ON e.relationship_id = r.id
            WHERE r.namespace_id = remove_unused_labels.namespace_id AND r.label = canonical AND COALESCE(e.label, canonical) = word
        );
        -- Only a canonical label leaves others without a target; other removed labels are bypassed.
        heir := NULLIF(canonical, word);
        DELETE FROM pgrecall.relation_labels l
        WHERE heir IS NULL AND l.namespace_id = remove_unused_labels.namespace_id AND l.alias = word AND l.method <> 'rule';
        FOR other IN
            SELECT l.alias, l.method, l.similarity FROM pgrecall.relation_labels l
            WHERE l.namespace_id = remove_unused_labels.namespace_id AND l.label = word AND l.alias <> word
              AND (l.method <> 'rule' OR heir IS NOT NULL)
            ORDER BY l.alias
        LOOP
            heir := COALESCE(heir, other.alias);
            PERFORM pgrecall.set_relation_label(namespace_id, other.alias, heir, other.method, other.similarity);
        END LOOP;
        DELETE FROM pgrecall.relation_labels l
        WHERE l.namespace_id = remove_unused_labels.namespace_id AND l.alias = word AND l.method <> 'rule';
    END LOOP;
END
$function$;
