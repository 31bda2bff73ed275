-- Whether a relationship is one of a namespace, and the current role sees it. For policies, as holds_memory().
CREATE OR REPLACE FUNCTION pgrecall.holds_relationship(namespace_id integer, relationship_id bigint)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN EXISTS (
    SELECT FROM pgrecall.relationships r
    WHERE r.id = holds_relationship.relationship_id AND r.namespace_id = holds_relationship.namespace_id
);

COMMENT ON FUNCTION pgrecall.holds_relationship IS
    'Whether a relationship is one of a namespace, and the current role sees it.';
