-- Tells whether a memory belongs to a namespace and is visible to the current role.
--
-- For policies, because a foreign key alone would reveal which ids exist.
CREATE OR REPLACE FUNCTION _pgrecall.owns_memory(namespace_id integer, memory_id bigint)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN EXISTS (
    SELECT FROM pgrecall.memories m
    WHERE m.id = owns_memory.memory_id AND m.namespace_id = owns_memory.namespace_id
);
