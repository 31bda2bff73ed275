-- Tells a client whether to have a language model expand a query, in which language, and what is cached.
--
-- is_expandable  see is_expandable()
-- language       a text-search configuration, such as english
-- terms          cached terms; NULL: none, or expired
CREATE OR REPLACE FUNCTION pgrecall.prepare_expansion(query text, namespace text DEFAULT NULL)
RETURNS TABLE (is_expandable boolean, language text, terms text[], entities text[], intent text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    languages regconfig[];
BEGIN
    IF NOT pgrecall.is_expandable(prepare_expansion.query) THEN
        RETURN QUERY SELECT false, NULL::text, NULL::text[], NULL::text[], NULL::text;
        RETURN;
    END IF;
    languages := _pgrecall.query_languages(pgrecall.namespace_id(prepare_expansion.namespace));
    RETURN QUERY
        SELECT true, _pgrecall.expansion_language(languages, prepare_expansion.query), k.terms, k.entities, k.intent
        FROM (SELECT) one
        LEFT JOIN _pgrecall.cached_expansion(languages, prepare_expansion.query) k ON true;
END
$function$;

ALTER FUNCTION pgrecall.prepare_expansion OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.prepare_expansion TO pgrecall_reader;
