-- Returns the lexemes that mark_pronouns() makes of English pronouns, which nearly everything that a user has said contains.
CREATE OR REPLACE FUNCTION _pgrecall.pronoun_lexemes()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{i0,me0,my0,you0,your0,we0,our0}'::text[];
