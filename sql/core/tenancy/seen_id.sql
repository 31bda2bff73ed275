-- Returns an id if it belongs to a row of a namespace that the session's role sees, else NULL (seen_ids).
CREATE OR REPLACE FUNCTION _pgrecall.seen_id(kind text, id bigint)
RETURNS bigint
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (_pgrecall.seen_ids(kind, ARRAY[id]))[1];
