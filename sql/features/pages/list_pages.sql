-- Lists the pages of a namespace, by name.
--
-- namespace  as for page()
--
-- lines  how many it has
CREATE OR REPLACE FUNCTION pgrecall.list_pages(namespace text DEFAULT NULL)
RETURNS TABLE (
    name text, question text, sections text[], budget integer, unit text, lines bigint, refreshed_at timestamptz, stale_since timestamptz
)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    home CONSTANT integer := pgrecall.namespace_id(list_pages.namespace);
BEGIN
    RETURN QUERY
        SELECT p.name, p.question, p.sections, p.budget, p.unit,
               (SELECT count(*) FROM pgrecall.page_lines l
                WHERE l.namespace_id = p.namespace_id AND l.page = p.name AND (l.valid_until IS NULL OR l.valid_until > now())),
               p.refreshed_at, _pgrecall.stale_since(p.namespace_id, p.name, p.refreshed_at)
        FROM pgrecall.pages p
        WHERE p.namespace_id = home
        ORDER BY p.name;
END
$function$;

ALTER FUNCTION pgrecall.list_pages OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.list_pages TO pgrecall_reader;
