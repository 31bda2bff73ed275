-- Tells whether accents change the stems of a language: French développé does, German Häuser does not.
--
-- English, German (measured) and simple do not need them. Every other configuration is assumed to.
CREATE OR REPLACE FUNCTION _pgrecall.keeps_accents(language regconfig)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN language NOT IN (
    'pg_catalog.simple'::regconfig, 'pg_catalog.english'::regconfig, 'pg_catalog.german'::regconfig
);
