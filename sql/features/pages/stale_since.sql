-- Returns since when a page lacks something: the oldest change that it was not filled after, or the first line that is over. NULL:
-- it is current.
--
-- A change that was noted before the last filling and is still there counts from that filling: a writer was not done.
CREATE OR REPLACE FUNCTION _pgrecall.stale_since(namespace_id integer, page text, refreshed_at timestamptz)
RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN least(
    (SELECT greatest(min(c.changed_at), stale_since.refreshed_at)
     FROM pgrecall.page_changes c WHERE c.namespace_id = stale_since.namespace_id HAVING count(*) > 0),
    (SELECT min(l.valid_until) FROM pgrecall.page_lines l
     WHERE l.namespace_id = stale_since.namespace_id AND l.page = stale_since.page AND l.valid_until <= now())
);
