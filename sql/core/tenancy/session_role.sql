-- Returns the role of the session: that of SET ROLE, else the login role.
--
-- Inside a SECURITY DEFINER function current_user is the function's owner; this is still the caller.
--
-- Errors  42501 see _pgrecall.refuse_role
CREATE OR REPLACE FUNCTION pgrecall.session_role()
RETURNS regrole
-- Restricted: a parallel worker does not see SET ROLE in the setting.
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN CASE
    WHEN current_setting('role') = 'none' THEN quote_ident(session_user)::regrole
    WHEN pg_has_role(session_user, quote_ident(current_setting('role'))::regrole, 'MEMBER')
        THEN quote_ident(current_setting('role'))::regrole
    ELSE _pgrecall.refuse_role(current_setting('role'))
END;
