-- Returns the lines of a page within its budget.
--
-- Each section but the last takes at most half of the room that the sections before it have left. What is then left over goes to
-- further lines in the same order. A line that does not fit is left out, not cut. A line costs its characters and its line end; a
-- token is taken to be three bytes of UTF-8, which is more tokens than usual models count. At most 200 lines.
CREATE OR REPLACE FUNCTION _pgrecall.page_content(page pgrecall.pages)
RETURNS SETOF pgrecall.page_lines
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ROWS 30
SET search_path FROM CURRENT
AS $function$
DECLARE
    lines pgrecall.page_lines[];
    sizes integer[];
    taken integer[] := '{}'::integer[];
    room integer := page.budget;
    share integer;
    part text;
BEGIN
    SELECT array_agg(
               ROW (page.namespace_id, page.name, c.memory_id, c.place, c.section, c.text, c.said_at, c.valid_until)::pgrecall.page_lines
               ORDER BY c.place
           ),
           array_agg(CASE page.unit WHEN 'tokens' THEN (octet_length(c.text) + 3) / 3 ELSE length(c.text) + 1 END ORDER BY c.place)
    INTO lines, sizes
    FROM _pgrecall.page_candidates(page) c;
    FOREACH part IN ARRAY page.sections LOOP
        share := CASE WHEN part = page.sections[cardinality(page.sections)] THEN room ELSE room / 2 END;
        FOR i IN 1 .. COALESCE(cardinality(lines), 0) LOOP
            IF lines[i].section = part AND sizes[i] <= share THEN
                taken := taken || i;
                share := share - sizes[i];
                room := room - sizes[i];
            END IF;
        END LOOP;
    END LOOP;
    FOR i IN 1 .. COALESCE(cardinality(lines), 0) LOOP
        IF sizes[i] <= room AND i <> ALL (taken) THEN
            taken := taken || i;
            room := room - sizes[i];
        END IF;
    END LOOP;
    RETURN QUERY
        SELECT l.namespace_id, l.page, l.memory_id, l."position", l.section, l.text, l.said_at, l.valid_until
        FROM (SELECT t.i FROM unnest(taken) t (i) ORDER BY t.i LIMIT 200) t
        CROSS JOIN LATERAL unnest(lines[t.i:t.i]) l
        ORDER BY t.i;
END
$function$;
