-- Raises an error if a language is not the name of a text-search configuration. NULL passes.
--
-- Errors  42704 no such language
CREATE OR REPLACE FUNCTION _pgrecall.check_language(language text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT SET quote_all_identifiers = off
AS $function$
BEGIN
    IF language IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_ts_config c JOIN pg_namespace n ON n.oid = c.cfgnamespace
        WHERE language = format('%I.%I', n.nspname, c.cfgname)
           OR (language = quote_ident(c.cfgname) AND pg_ts_config_is_visible(c.oid))
    ) THEN
        RAISE EXCEPTION 'there is no text-search configuration "%"', left(language, 80)
            USING ERRCODE = 'undefined_object', COLUMN = 'language',
                  HINT = 'SELECT cfgname FROM pg_ts_config lists them; ''simple'' suits any language.';
    END IF;
END
$function$;
