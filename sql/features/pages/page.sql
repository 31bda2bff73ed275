-- Returns a page: its lines, each with the memories that it rests on. No row if there is none of that name.
--
-- Reads rows by their primary key and recalls nothing, so it takes the same time in a small and in a large namespace. What a page says
-- is for every reader of its namespace: no line quotes a memory that is sensitive, forgotten, expired, superseded or over.
--
-- namespace  NULL: the setting pgrecall.namespace, then 'default'
--
-- lines         [{"section", "text", "memory_ids", "said_at", "origin"}], in order; [] if there is nothing to say
-- refreshed_at  when it was filled last; NULL: never
-- stale_since   since when the daemon is behind; NULL: the page is current
CREATE OR REPLACE FUNCTION pgrecall.page(name text, namespace text DEFAULT NULL)
RETURNS TABLE (question text, lines jsonb, refreshed_at timestamptz, stale_since timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    home CONSTANT integer := pgrecall.namespace_id(page.namespace);
BEGIN
    RETURN QUERY
        SELECT p.question,
               COALESCE((
                   SELECT jsonb_agg(jsonb_build_object(
                       'section', l.section, 'text', l.text, 'memory_ids', ARRAY[l.memory_id], 'said_at', l.said_at, 'origin', m.origin
                   ) ORDER BY l."position")
                   FROM pgrecall.page_lines l
                   JOIN pgrecall.memories m ON m.id = l.memory_id
                   WHERE l.namespace_id = p.namespace_id AND l.page = p.name AND (l.valid_until IS NULL OR l.valid_until > now())
               ), '[]'),
               p.refreshed_at, _pgrecall.stale_since(p.namespace_id, p.name, p.refreshed_at)
        FROM pgrecall.pages p
        WHERE p.namespace_id = home AND p.name = page.name;
END
$function$;

ALTER FUNCTION pgrecall.page OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.page TO pgrecall_reader;
