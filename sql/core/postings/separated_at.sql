-- Returns the time that the postings of a namespace stand for: what was over then is in those of the past.
--
-- -infinity: no validity has ended in them yet. NULL: they have not been separated since an upgrade.
CREATE OR REPLACE FUNCTION _pgrecall.separated_at(namespace_id integer)
RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT CASE WHEN count(*) = 0 THEN '-infinity'::timestamptz ELSE max(s.separated_at) END
    FROM pgrecall.posting_states s
    WHERE s.namespace_id = separated_at.namespace_id
);
