-- The role that statements of this session are made by: of SET ROLE, else who is logged in.
--
-- current_user is the same, but inside functions that run with their owner's rights.
CREATE OR REPLACE FUNCTION pgrecall.session_role()
RETURNS regrole
LANGUAGE sql STABLE PARALLEL SAFE
RETURN quote_ident(COALESCE(NULLIF(current_setting('role'), 'none'), session_user))::regrole;

COMMENT ON FUNCTION pgrecall.session_role IS 'The role that statements of this session are made by: of SET ROLE, else who is logged in.';
