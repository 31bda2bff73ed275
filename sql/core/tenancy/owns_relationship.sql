-- Tells whether a relationship belongs to a namespace and is visible to the current role. See owns_memory().
CREATE OR REPLACE FUNCTION _pgrecall.owns_relationship(namespace_id integer, relationship_id bigint)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN EXISTS (
    SELECT FROM pgrecall.relationships r
    WHERE r.id = owns_relationship.relationship_id AND r.namespace_id = owns_relationship.namespace_id
);
