-- Returns the names of months and weekdays that are so often other words that no query is expanded by them.
CREATE OR REPLACE FUNCTION _pgrecall.ordinary_names()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{set,out,ago,gen,mag,mars,marco,ven,vie,segunda-feira,terca-feira,quarta-feira,quinta-feira,sexta-feira}'::text[];
