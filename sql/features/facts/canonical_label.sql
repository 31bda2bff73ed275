-- Returns the canonical label for a label, following pgrecall.relation_labels; without an entry, the label itself.
--
-- pgrecall.set_relation_label makes no circle, but an embedder calls this for every tenant: in a circle it ends, too, with one of
-- its labels. It compares with a label passed, which it takes anew after 1, 2, 4, 8, … steps.
--
-- label  normalised by _pgrecall.normalize_label
CREATE OR REPLACE FUNCTION pgrecall.canonical_label(namespace_id integer, label text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    found text := label;
    another text;
    passed text := label;
    steps integer := 0;
BEGIN
    LOOP
        SELECT l.label INTO another FROM pgrecall.relation_labels l
        WHERE l.namespace_id = canonical_label.namespace_id AND l.alias = found;
        EXIT WHEN another IS NULL OR another IN (found, passed);
        found := another;
        steps := steps + 1;
        IF steps & (steps - 1) = 0 THEN
            passed := found;
        END IF;
    END LOOP;
    RETURN found;
END
$function$;

ALTER FUNCTION pgrecall.canonical_label OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.canonical_label TO pgrecall_embedder;
