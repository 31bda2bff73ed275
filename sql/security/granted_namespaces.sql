-- The namespaces that the current role may read, as an array with their ids for subscripts: true at those. NULL if there are none.
--
-- Made for the policies: to look into an array costs nothing by the planner's reckoning, so that what a row's policy says is
-- tested before any condition of the query, which therefore sees no row of others: neither by how long it takes nor by what
-- EXPLAIN ANALYZE counts. The operators of text (=, <) are leakproof and would go before a subquery. Asked once for each table
-- of a statement, it takes the same time with one grant and with ten thousand (grants_gather).
CREATE OR REPLACE FUNCTION pgrecall.granted_namespaces()
RETURNS boolean[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    one boolean[];
    found boolean[];
BEGIN
    FOR one IN SELECT g.namespaces FROM pgrecall.granted g WHERE g.role = ANY (pgrecall.held_roles()) LOOP
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

COMMENT ON FUNCTION pgrecall.granted_namespaces IS
    'The namespaces that the current role may read: an array that is true at their ids.';
