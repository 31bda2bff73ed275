-- Returns the names of months and weekdays that are also other words.
--
-- In a query they name a time only after "in" or the like or beside a number, those of English and German also with a capital in
-- the middle of a sentence (query_values).
CREATE OR REPLACE FUNCTION _pgrecall.ambiguous_names()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{march,may,mar,mars,marco,mai,mei,maj,set,out,ago,gen,mag,lug,ott,ene,dic,
         mon,wed,sat,sun,lun,jeu,ven,mie,jue,vie,gio,sab,мая,май,мае,среда,среду}'::text[];
