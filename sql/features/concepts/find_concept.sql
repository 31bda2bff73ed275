-- Returns the concept with a name or alias in a namespace; NULL if there is none.
--
-- namespace  NULL: the setting pgrecall.namespace, then 'default'
CREATE OR REPLACE FUNCTION pgrecall.find_concept(name text, namespace text DEFAULT NULL)
RETURNS bigint
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
RETURN (
    SELECT a.concept_id FROM pgrecall.concept_aliases a
    WHERE a.namespace_id = pgrecall.namespace_id(namespace) AND a.alias = pgrecall.normalize_name(find_concept.name)
);

ALTER FUNCTION pgrecall.find_concept OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.find_concept TO pgrecall_reader;
