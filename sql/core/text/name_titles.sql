-- Returns the titles that stand before a name, as normalize_name() writes them.
CREATE OR REPLACE FUNCTION _pgrecall.name_titles()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{mr,mrs,ms,miss,dr,prof,professor,sir,dame,herr,frau,monsieur,madame,señor,señora}'::text[];
