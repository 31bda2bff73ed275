-- Fills the pages of a namespace anew, and returns how many it has. 0 if another session is filling or changing one of them.
--
-- All or none: a note of a change is about every page.
--
-- It takes the notes of changes first and reads the memories in later statements. A writer that found a note here holds it until it
-- ends (mark_pages): such a note stays, and with it the pages are filled once more. It locks the memories that it quotes before
-- the lines appear, so nothing that a writer withdraws meanwhile comes back: a memory that a writer holds is left out, and that
-- writer's note has the page filled again. Writers of quoted memories wait until the caller's transaction ends.
--
-- Errors  55P03 a writer holds a line for longer than the caller's lock_timeout
CREATE OR REPLACE FUNCTION _pgrecall.fill_pages(namespace_id integer)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    home CONSTANT integer := fill_pages.namespace_id;
    visible CONSTANT pgrecall.recall_filter := _pgrecall.page_filter();
    one pgrecall.pages;
    names text[];
    lines pgrecall.page_lines[] := '{}'::pgrecall.page_lines[];
    more pgrecall.page_lines[];
BEGIN
    SELECT array_agg(p.name) INTO names
    FROM (
        SELECT p.name FROM pgrecall.pages p WHERE p.namespace_id = home ORDER BY p.name FOR NO KEY UPDATE SKIP LOCKED
    ) p;
    IF names IS NULL OR EXISTS (SELECT FROM pgrecall.pages p WHERE p.namespace_id = home AND p.name <> ALL (names)) THEN
        RETURN 0;
    END IF;
    DELETE FROM pgrecall.page_changes c
    WHERE c.namespace_id = home AND c.ticket IN (
        SELECT x.ticket FROM pgrecall.page_changes x WHERE x.namespace_id = home FOR UPDATE SKIP LOCKED
    );
    FOR one IN SELECT p.* FROM pgrecall.pages p WHERE p.namespace_id = home AND p.name = ANY (names) ORDER BY p.name LOOP
        SELECT array_agg(l) INTO more FROM _pgrecall.page_content(one) l;
        lines := lines || more;
    END LOOP;
    DELETE FROM pgrecall.page_lines l WHERE l.namespace_id = home AND l.page = ANY (names);
    -- In the order of ids, as every writer of several memories locks them.
    INSERT INTO pgrecall.page_lines (namespace_id, page, memory_id, "position", section, text, said_at, valid_until)
    SELECT l.namespace_id, l.page, l.memory_id, l."position", l.section, l.text, l.said_at, l.valid_until
    FROM (SELECT x.* FROM unnest(lines) x ORDER BY x.memory_id) l
    CROSS JOIN LATERAL (
        SELECT FROM pgrecall.memories m
        WHERE m.id = l.memory_id AND m.namespace_id + 0 = home
          AND _pgrecall.matches_filter(m, visible)
          AND (least(m.valid_to, m.expires_at) IS NULL OR least(m.valid_to, m.expires_at) >= l.valid_until)
          -- The text that the line was made of.
          AND (l.text = _pgrecall.page_text(m.speaker, m.title, m.content, NULL)
               OR EXISTS (
                   SELECT FROM pgrecall.relationship_evidence e
                   WHERE e.memory_id = m.id AND l.text = _pgrecall.page_text(m.speaker, m.title, m.content, e.statement)
               ))
        LIMIT 1
        FOR SHARE SKIP LOCKED
    ) m;
    UPDATE pgrecall.pages p SET refreshed_at = clock_timestamp() WHERE p.namespace_id = home AND p.name = ANY (names);
    RETURN cardinality(names);
END
$function$;
