-- Returns the namespaces granted to the session's role: an array that is true at their ids. NULL without any grant.
--
-- The policies call it once per table of a statement. It takes the same time with one grant and with ten thousand
-- (collect_grants).
CREATE OR REPLACE FUNCTION _pgrecall.granted_namespaces()
RETURNS boolean[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
DECLARE
    -- In a variable: the policy of the table lets no index take it as an expression, and many grants leave many dead rows.
    held CONSTANT oid[] := _pgrecall.held_roles(pgrecall.session_role());
    one boolean[];
    found boolean[];
BEGIN
    FOR one IN SELECT g.namespaces FROM pgrecall.granted g WHERE g.role = ANY (held) LOOP
        IF found IS NULL THEN
            found := one;
        ELSE
            FOR id IN array_lower(one, 1) .. array_upper(one, 1) LOOP
                IF one[id] THEN
                    found[id] := true;
                END IF;
            END LOOP;
        END IF;
    END LOOP;
    RETURN found;
END
$function$;
