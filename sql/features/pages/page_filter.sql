-- Returns the filter of the memories that a page may quote: nothing sensitive, forgotten, expired, superseded or over, and nothing that
-- came through a tool or from the web, because what these say is no standing answer.
CREATE OR REPLACE FUNCTION _pgrecall.page_filter()
RETURNS pgrecall.recall_filter
LANGUAGE sql STABLE PARALLEL SAFE
RETURN jsonb_populate_record(NULL::pgrecall.recall_filter, '{"include_sensitive": false, "min_trust": "import"}');
