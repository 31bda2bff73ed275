-- Returns up to how many memories a namespace is searched exactly, by the cost of the two ways: at least exact_rows, and
-- more beside many others.
--
-- The HNSW index covers all namespaces. A scan of it that wants depth memories of a namespace with n of all N visits about
-- depth * N / n of them; the exact search visits n, each at a fraction 1/c of the cost. The exact search is the cheaper one
-- below n = sqrt(c * depth * N). c is 18 if the exact search reads memories_embedding_scan_idx, and 6 if a vector is too
-- long for that index.
--
-- exact_rows  the setting dense_exact_rows; 0: always use the HNSW index
-- dimension   of the vectors
CREATE OR REPLACE FUNCTION _pgrecall.dense_exact_limit(exact_rows integer, depth integer, dimension integer)
RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN exact_rows > 0 THEN greatest(exact_rows, least(sqrt(CASE WHEN dimension <= 1300 THEN 18 ELSE 6 END * depth * greatest((
    -- Rows at the last ANALYZE or VACUUM; -1 before the first.
    SELECT c.reltuples FROM pg_class c WHERE c.oid = 'pgrecall.memories'::regclass
), 0)::double precision), 1000000))::integer ELSE 0 END;
