-- Returns the highest memory id, or 0 without memories. Memories stored later have higher ids.
CREATE OR REPLACE FUNCTION pgrecall.last_memory_id()
RETURNS bigint
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
RETURN (SELECT COALESCE(max(m.id), 0) FROM pgrecall.memories m);

ALTER FUNCTION pgrecall.last_memory_id OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.last_memory_id TO pgrecall_reader;
