-- Returns the role of the session: that of SET ROLE, else the login role.
--
-- Inside a SECURITY DEFINER function current_user is the function's owner; this is still the caller.
CREATE OR REPLACE FUNCTION pgrecall.session_role()
RETURNS regrole
-- Restricted: a parallel worker does not see SET ROLE in the setting.
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN quote_ident(COALESCE(NULLIF(current_setting('role'), 'none'), session_user))::regrole;
