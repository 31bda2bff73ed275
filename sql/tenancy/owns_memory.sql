-- Whether a memory is one of a namespace, and the current role sees it. For policies: a foreign key would tell which ids exist.
CREATE OR REPLACE FUNCTION _pgrecall.owns_memory(namespace_id integer, memory_id bigint)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN EXISTS (
    SELECT FROM pgrecall.memories m
    WHERE m.id = owns_memory.memory_id AND m.namespace_id = owns_memory.namespace_id
);

COMMENT ON FUNCTION _pgrecall.owns_memory IS 'Whether a memory is one of a namespace, and the current role sees it.';
