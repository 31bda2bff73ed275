-- Gives a namespace the pages about-user (all sections) and recent (recent events, then open matters), and fills them. A page of
-- that name that is there already stays as it is.
--
-- namespace  as for page()
--
-- Errors  those of set_page()
CREATE OR REPLACE FUNCTION pgrecall.set_default_pages(namespace text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    home CONSTANT integer := _pgrecall.writable_namespace(set_default_pages.namespace);
BEGIN
    PERFORM _pgrecall.store_page(home, d.name, NULL, 2000, 'characters', d.sections)
    FROM (VALUES
        ('about-user', ARRAY(SELECT s.section FROM _pgrecall.page_sections() s)),
        ('recent', '{recent,open}')
    ) d (name, sections)
    WHERE NOT EXISTS (SELECT FROM pgrecall.pages p WHERE p.namespace_id = home AND p.name = d.name);
    PERFORM _pgrecall.fill_granted(home);
END
$function$;

ALTER FUNCTION pgrecall.set_default_pages OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.set_default_pages TO pgrecall_writer;
