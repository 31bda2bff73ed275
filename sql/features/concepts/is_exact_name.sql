-- Tells whether a concept has an exact name: a path, an address or an identifier, where one letter makes a difference.
--
-- Checks its first 20 mentions.
CREATE OR REPLACE FUNCTION _pgrecall.is_exact_name(concept_id bigint)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN EXISTS (
    SELECT FROM (SELECT m.source, m.type FROM pgrecall.mentions m WHERE m.concept_id = is_exact_name.concept_id LIMIT 20) m
    WHERE m.source IN ('path', 'url', 'identifier', 'issue', 'version', 'handle') OR m.type = 'FILE'
);
