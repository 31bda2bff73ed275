-- Replaces the names and regular expressions that mark an entity of a type, in one namespace or in all. Empty arrays remove them.
--
-- Applies to future extractions. reextract() queues the existing memories.
--
-- type       in capitals: PROJECT, TECHNOLOGY, or your own
-- keywords   names, in any case
-- patterns   Python regular expressions; the match is the name
-- namespace  NULL: all namespaces
--
-- Errors  22023 not a type, an empty or too long keyword or pattern;  42704 no such namespace;  54000 too many
CREATE OR REPLACE FUNCTION pgrecall.set_entity_rules(
    type text, keywords text[] DEFAULT '{}', patterns text[] DEFAULT '{}', namespace text DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    chosen integer;
BEGIN
    keywords := COALESCE(keywords, '{}');
    patterns := COALESCE(patterns, '{}');
    IF set_entity_rules.type IS NULL OR set_entity_rules.type !~ '^[A-Z][A-Z0-9_]{0,39}$' THEN
        RAISE EXCEPTION '"%" is not a type of entities', left(set_entity_rules.type, 40)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Write it in capitals, such as PROJECT.';
    ELSIF EXISTS (SELECT FROM unnest(keywords || patterns) u (text) WHERE u.text IS NULL OR length(u.text) NOT BETWEEN 1 AND 200)
          OR EXISTS (SELECT FROM unnest(keywords) u (text) WHERE btrim(u.text) = '') THEN
        RAISE EXCEPTION 'a keyword or pattern of type % is empty or longer than 200 characters', set_entity_rules.type
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out, or make it shorter.';
    ELSIF cardinality(keywords) > 100000 OR cardinality(patterns) > 100 THEN
        RAISE EXCEPTION 'type % has % keywords and % patterns', set_entity_rules.type, cardinality(keywords), cardinality(patterns)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Pass at most 100,000 keywords and 100 patterns.';
    END IF;
    IF namespace IS NOT NULL THEN
        PERFORM _pgrecall.check_namespace(namespace, false);
        chosen := pgrecall.namespace_id(namespace);
    END IF;
    IF cardinality(keywords) + cardinality(patterns) = 0 THEN
        DELETE FROM pgrecall.entity_rules r
        WHERE r.type = set_entity_rules.type AND r.namespace_id IS NOT DISTINCT FROM chosen;
    ELSE
        INSERT INTO pgrecall.entity_rules (namespace_id, type, keywords, patterns)
        VALUES (chosen, set_entity_rules.type, set_entity_rules.keywords, set_entity_rules.patterns)
        ON CONFLICT ON CONSTRAINT entity_rules_key
            DO UPDATE SET keywords = excluded.keywords, patterns = excluded.patterns, updated_at = now();
    END IF;
EXCEPTION WHEN check_violation THEN
    -- The message of the table's CHECK would print the row.
    RAISE EXCEPTION 'the rules of type % are too many, or too long together', set_entity_rules.type
        USING ERRCODE = 'program_limit_exceeded', HINT = 'Replace similar keywords by one pattern.';
END
$function$;

ALTER FUNCTION pgrecall.set_entity_rules OWNER TO pgrecall_engine;
