-- Whether a concept is known by an exact name, a path, an address, an identifier: another letter, another thing.
--
-- Its first 20 mentions tell.
CREATE OR REPLACE FUNCTION _pgrecall.is_exact_name(concept_id bigint)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN EXISTS (
    SELECT FROM (SELECT m.source, m.type FROM pgrecall.mentions m WHERE m.concept_id = is_exact_name.concept_id LIMIT 20) m
    WHERE m.source IN ('path', 'url', 'identifier', 'issue', 'version', 'handle') OR m.type = 'FILE'
);

COMMENT ON FUNCTION _pgrecall.is_exact_name IS 'Whether a concept is known by an exact name: a path, an address, an identifier.';
