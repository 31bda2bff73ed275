-- Returns the range of client contracts that this database serves. A client or daemon within it works; see upgrading.
--
-- A client or daemon speaks one contract: the functions it calls, with their arguments and results. tools/contract.json
-- lists them. A change that an older client would notice raises newest; oldest follows when the older ones are dropped.
-- These two numbers are the only place: a package speaks the newest contract of its own copy of this file.
CREATE OR REPLACE FUNCTION pgrecall.contract()
RETURNS TABLE (oldest integer, newest integer)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT 1 AS oldest, 1 AS newest;
END;

GRANT EXECUTE ON FUNCTION pgrecall.contract TO pgrecall_reader, pgrecall_embedder;
