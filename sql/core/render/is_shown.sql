-- Tells whether the caller may see a memory. Nobody sees a forgotten or an expired one.
--
-- namespace, include_sensitive  as for recall()
-- any_namespace                 true: ignore the namespace
CREATE OR REPLACE FUNCTION pgrecall.is_shown(
    id bigint, namespace text DEFAULT NULL, any_namespace boolean DEFAULT false, include_sensitive boolean DEFAULT true
)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
RETURN EXISTS (
    SELECT
    FROM pgrecall.memories m
    WHERE m.id = (SELECT _pgrecall.seen_id('memory', is_shown.id))
      AND m.deleted_at IS NULL
      AND (m.expires_at IS NULL OR m.expires_at > now())
      AND (is_shown.any_namespace OR m.namespace_id = pgrecall.namespace_id(is_shown.namespace))
      AND (COALESCE(is_shown.include_sensitive, true) OR NOT m.is_sensitive)
);

ALTER FUNCTION pgrecall.is_shown OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.is_shown TO pgrecall_reader;
