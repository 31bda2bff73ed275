-- Returns how many entries of the HNSW index to read for a list of memories of a large namespace, whatever the entries are.
--
-- One and a half times as many as would hold depth memories of the namespace if they lay among the others at random, and a
-- hundred at least: fewer would tell how many memories of others are nearer.
CREATE OR REPLACE FUNCTION _pgrecall.shared_visits(namespace_id integer, depth integer)
RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN least(greatest(1.5 * depth * greatest((
    SELECT c.reltuples FROM pg_class c WHERE c.oid = 'pgrecall.memories'::regclass
)::double precision / greatest(_pgrecall.namespace_size(namespace_id, 100000000), 1), 1), 100), 1000000)::integer;
