-- Returns the text-search configuration that a stored name stands for: simple if it has been dropped since.
--
-- A namespace and its memories keep the name of a dropped configuration. A name without a schema is one of PostgreSQL's own and
-- stays: it is not looked up, which would cost each recall more than the rest of its languages.
CREATE OR REPLACE FUNCTION _pgrecall.stored_language(language text)
RETURNS regconfig
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    names text[];
BEGIN
    IF strpos(language, '.') = 0 THEN
        RETURN language::regconfig;
    END IF;
    names := parse_ident(language);
    RETURN COALESCE(
        (
            SELECT c.oid::regconfig FROM pg_ts_config c
            WHERE c.cfgname = names[2] AND c.cfgnamespace = to_regnamespace(quote_ident(names[1]))
        ),
        'pg_catalog.simple'::regconfig
    );
END
$function$;
