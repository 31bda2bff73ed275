-- Whether a relationship is one of a namespace, and the current role sees it. For policies, as owns_memory().
CREATE OR REPLACE FUNCTION _pgrecall.owns_relationship(namespace_id integer, relationship_id bigint)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN EXISTS (
    SELECT FROM pgrecall.relationships r
    WHERE r.id = owns_relationship.relationship_id AND r.namespace_id = owns_relationship.namespace_id
);

COMMENT ON FUNCTION _pgrecall.owns_relationship IS
    'Whether a relationship is one of a namespace, and the current role sees it.';
