-- Stores a checked page in place of one of the same name.
--
-- What the earlier one said is no answer to the new one: its lines go. Waits for who is changing the pages of the namespace or filling
-- them; until the caller's transaction ends, nobody else fills them, who would not see the new page (fill_pages).
--
-- Errors  54000 the namespace has 32 pages;  42704 see lock_namespace
CREATE OR REPLACE FUNCTION _pgrecall.store_page(
    namespace_id integer, name text, question text, budget integer, unit text, sections text[]
)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    most CONSTANT integer := 32;
    home CONSTANT integer := store_page.namespace_id;
BEGIN
    PERFORM _pgrecall.lock_namespace(home);
    PERFORM FROM pgrecall.pages p WHERE p.namespace_id = home ORDER BY p.name FOR NO KEY UPDATE;
    IF (SELECT count(*) FROM pgrecall.pages p WHERE p.namespace_id = home AND p.name <> store_page.name) >= most THEN
        RAISE EXCEPTION 'the namespace has % pages already', most
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Drop one with pgrecall.drop_page().';
    END IF;
    DELETE FROM pgrecall.pages p
    WHERE p.namespace_id = home AND p.name = store_page.name
      AND (p.question, p.budget, p.unit, p.sections) IS DISTINCT FROM
          (store_page.question, store_page.budget, store_page.unit, store_page.sections);
    INSERT INTO pgrecall.pages (namespace_id, name, question, budget, unit, sections)
    VALUES (home, store_page.name, store_page.question, store_page.budget, store_page.unit, store_page.sections)
    ON CONFLICT ON CONSTRAINT pages_pkey DO NOTHING;
END
$function$;
