-- Makes a page of a namespace, or changes it, and fills it. For roles that may write there.
--
-- From then on the daemon fills it again when something changes that it may rest on. Without a daemon, the same call fills it.
--
-- name       small letters, digits, - and _
-- question   what its lines are recalled for, by words and concepts; NULL: the namespace as a whole
-- budget     the most that its lines have together, 50 to 100000
-- unit       'characters', or 'tokens' of three bytes each
-- sections   'facts' (that hold now), 'preferences', 'open' (matters) and 'recent' (events), an earlier one first; NULL: all
-- namespace  as for page()
--
-- Errors  22023, 54000 see _pgrecall.check_page;  54000 more than 32 pages;  42704 no such namespace;  42501 read-only for this role
CREATE OR REPLACE FUNCTION pgrecall.set_page(
    name text, question text DEFAULT NULL, budget integer DEFAULT 2000, unit text DEFAULT 'characters', sections text[] DEFAULT NULL,
    namespace text DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    home CONSTANT integer := _pgrecall.writable_namespace(set_page.namespace);
    form CONSTANT text[] := COALESCE(set_page.sections, ARRAY(SELECT s.section FROM _pgrecall.page_sections() s));
BEGIN
    PERFORM _pgrecall.check_page(set_page.name, set_page.question, set_page.budget, set_page.unit, form);
    PERFORM _pgrecall.store_page(home, set_page.name, set_page.question, set_page.budget, set_page.unit, form);
    PERFORM _pgrecall.fill_granted(home);
END
$function$;

ALTER FUNCTION pgrecall.set_page OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.set_page TO pgrecall_writer;
