-- Returns up to how many memories a namespace is searched exactly, for a role that does not see every namespace; NULL for others.
--
-- A scan of the HNSW index visits memories of all namespaces: how many, PostgreSQL's counters tell the caller. So such a role
-- cannot lower the stored dense_exact_rows, and if the setting dense_shared_index is off, it never uses that index.
CREATE OR REPLACE FUNCTION _pgrecall.private_exact_rows()
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF _pgrecall.sees_all() OR _pgrecall.is_embedder() THEN
        RETURN NULL;
    ELSIF pgrecall.stored_setting('dense_shared_index') = 'off' THEN
        RETURN 2147483646;
    END IF;
    RETURN pgrecall.stored_setting('dense_exact_rows')::integer;
END
$function$;
