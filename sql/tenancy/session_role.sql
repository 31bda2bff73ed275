-- The role that asks: that of SET ROLE, else the one that logged in.
--
-- Inside a function that runs as another role, current_user is that role; this is still the one that called.
CREATE OR REPLACE FUNCTION pgrecall.session_role()
RETURNS regrole
-- Restricted: a parallel worker does not know of SET ROLE by the setting.
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN quote_ident(COALESCE(NULLIF(current_setting('role'), 'none'), session_user))::regrole;

COMMENT ON FUNCTION pgrecall.session_role IS 'The role that asks: that of SET ROLE, else the one that logged in.';
