-- Returns the ids of the namespaces of a call that may read several; NULL stands for one that the session's role does not see.
--
-- The arguments are the call's: see asked_namespaces(), whose errors it raises
CREATE OR REPLACE FUNCTION _pgrecall.read_namespaces(namespace text, namespaces text[])
RETURNS integer[]
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN COALESCE(
    _pgrecall.seen_namespaces(_pgrecall.asked_namespaces(namespace, namespaces)), ARRAY[pgrecall.namespace_id(namespace)]
);
