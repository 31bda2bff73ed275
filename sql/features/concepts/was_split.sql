-- Tells whether two concepts have names that were once merged and then split. Only a manual merge overrides that.
CREATE OR REPLACE FUNCTION _pgrecall.was_split(concept_id bigint, other_id bigint)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN EXISTS (
    SELECT FROM pgrecall.concept_aliases a
    JOIN pgrecall.concept_merges g ON g.namespace_id = a.namespace_id AND g.key = a.alias
    JOIN pgrecall.concept_aliases b ON b.namespace_id = g.namespace_id AND b.alias = g.into_key
    WHERE g.split_at IS NOT NULL
      AND ((a.concept_id = was_split.concept_id AND b.concept_id = was_split.other_id)
           OR (a.concept_id = was_split.other_id AND b.concept_id = was_split.concept_id))
);
