-- How many memories a namespace has, counted no further than at_most: tombstones included, from the index alone.
CREATE OR REPLACE FUNCTION pgrecall.namespace_size(namespace_id integer, at_most integer)
RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT count(*)::integer
    FROM (
        SELECT FROM pgrecall.memories m WHERE m.namespace_id = namespace_size.namespace_id LIMIT namespace_size.at_most
    ) counted
);

COMMENT ON FUNCTION pgrecall.namespace_size IS 'How many memories a namespace has, counted no further than at_most.';
