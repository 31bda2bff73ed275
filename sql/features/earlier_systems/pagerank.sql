-- Stub for graph_ppr() where it is not installed: raises an error with the install command.
--
-- Errors  0A000
CREATE OR REPLACE FUNCTION _pgrecall.pagerank(
    seeds bigint[], k integer, namespace text, weights double precision[], concepts bigint[], restart double precision
)
RETURNS TABLE (id bigint, score double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50
SET search_path FROM CURRENT
AS $function$
BEGIN
    RAISE EXCEPTION 'graph_ppr is not installed'
        USING ERRCODE = 'feature_not_supported',
              HINT = 'Install it as a superuser: pgrecall migrate --with-plpython. The graph leg of recall does not need it.';
END
$function$;
