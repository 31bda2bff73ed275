-- Labels that no memory states any more are forgotten: what was decided of them goes, as the words of such a memory do.
--
-- Where other labels stood for one of them, the first of those takes its place. What a person decided (rule) stays. The
-- caller holds _pgrecall.lock_relationships().
--
-- labels  as they were stated by what has just gone
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
        WHERE l.namespace_id = remove_unused_labels.namespace_id AND l.method <> 'rule' AND (l.alias = ANY (labels) OR l.label = ANY (labels))
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
        -- Only what stands for itself leaves others without a label; what led elsewhere is led past.
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

COMMENT ON FUNCTION _pgrecall.remove_unused_labels IS
    'Labels that no memory states any more are forgotten, with what was decided of them; others that stood for one take its place.';
