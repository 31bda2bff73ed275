-- Whether the stems of a language tell more with accents than without: French développé, not German Häuser.
--
-- English, German (measured) and simple have no such stems; of any other configuration it is assumed.
CREATE OR REPLACE FUNCTION _pgrecall.keeps_accents(language regconfig)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN language NOT IN (
    'pg_catalog.simple'::regconfig, 'pg_catalog.english'::regconfig, 'pg_catalog.german'::regconfig
);

COMMENT ON FUNCTION _pgrecall.keeps_accents IS 'Whether the stems of a language tell more with accents than without.';
