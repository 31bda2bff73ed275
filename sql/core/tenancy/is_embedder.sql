-- Tells whether the session's role is an embedder: it works on every namespace and sees no sensitive memory.
CREATE OR REPLACE FUNCTION _pgrecall.is_embedder()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN pg_has_role(pgrecall.session_role(), 'pgrecall_embedder', 'USAGE');
