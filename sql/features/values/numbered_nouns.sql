-- Returns the words after which V, 5 and five are one number.
CREATE OR REPLACE FUNCTION _pgrecall.numbered_nouns()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{volume,vol,chapter,part,book,act,scene,phase,season,episode,stage,round,grade,tome,tomo,band,teil,kapitel,chapitre,war,
         type,class,level,mark,edition,henry,elizabeth,george,louis,charles,edward,richard,william}'::text[];
