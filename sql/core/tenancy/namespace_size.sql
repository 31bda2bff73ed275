-- Estimates how many memories a namespace has, up to max_count: indexed memories plus pending changes.
--
-- Memories that are over do not count (is_past). A changed memory may count twice. The estimate selects the search method, not the results.
CREATE OR REPLACE FUNCTION _pgrecall.namespace_size(namespace_id integer, max_count integer)
RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN least(
    max_count,
    COALESCE(
        (SELECT l.documents FROM pgrecall.term_stats l
         WHERE l.namespace_id = namespace_size.namespace_id AND l.term = '' AND NOT l.is_past), 0
    ) + (
        SELECT count(*)
        FROM (
            SELECT FROM pgrecall.pending_postings u WHERE u.namespace_id = namespace_size.namespace_id LIMIT namespace_size.max_count
        ) counted
    )
)::integer;
