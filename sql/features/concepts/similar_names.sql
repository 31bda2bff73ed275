-- Finds normalised names of the namespace that may mean the same as a name.
--
-- The candidates are its neighbours in name order, and the name with and without a title or legal form: range scans and
-- lookups in the name index. No index covers the last word: names that begin differently are similar enough only if
-- they are long, and embeddings find those.
CREATE OR REPLACE FUNCTION _pgrecall.similar_names(namespace_id integer, alias text)
RETURNS TABLE (concept_id bigint, alias text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50
BEGIN ATOMIC
    (SELECT a.concept_id, a.alias FROM pgrecall.concept_aliases a
     WHERE a.namespace_id = similar_names.namespace_id AND a.alias > (similar_names.alias COLLATE "C")
       AND a.alias < (left(similar_names.alias, 3) || U&'\+10FFFF') COLLATE "C"
     ORDER BY a.alias
     LIMIT 25)
    UNION ALL
    (SELECT a.concept_id, a.alias FROM pgrecall.concept_aliases a
     WHERE a.namespace_id = similar_names.namespace_id AND a.alias < (similar_names.alias COLLATE "C")
       AND a.alias >= left(similar_names.alias, 3) COLLATE "C"
     ORDER BY a.alias DESC
     LIMIT 25)
    UNION ALL
    SELECT a.concept_id, a.alias
    FROM (SELECT _pgrecall.canonical_name(similar_names.alias) AS name) plain
    CROSS JOIN LATERAL (
        SELECT plain.name
        UNION ALL
        SELECT title || ' ' || plain.name FROM unnest('{dr,mr,mrs,ms,prof,professor,sir}'::text[]) title
        UNION ALL
        SELECT plain.name || ' ' || form FROM unnest('{inc,ltd,llc,corp,corporation,gmbh,ag,plc,co}'::text[]) form
    ) written (name)
    CROSS JOIN LATERAL (
        SELECT a.concept_id, a.alias FROM pgrecall.concept_aliases a
        WHERE a.namespace_id = similar_names.namespace_id AND a.alias = written.name AND a.alias <> similar_names.alias
        LIMIT 1
    ) a;
END;

COMMENT ON FUNCTION _pgrecall.similar_names IS
    'Finds normalised names of the namespace that may mean the same as a name.';
