-- Strips accents, courtesy titles and legal forms from a normalised name. Names with equal results mean the same.
--
-- "dr jane miller" becomes "jane miller", "acme inc" becomes "acme". A single word keeps its title: "mr miller" and
-- "mrs miller" may be two people.
CREATE OR REPLACE FUNCTION _pgrecall.canonical_name(alias text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT
AS $function$
DECLARE
    titles CONSTANT text[] := _pgrecall.name_titles();
    forms CONSTANT text[] := '{inc,incorporated,ltd,limited,llc,llp,plc,corp,corporation,co,gmbh,ag,kg,bv,b.v,nv,n.v,s.a,s.p.a}'::text[];
    words text[] := string_to_array(alias, ' ');
    first integer := 1;
    last integer := cardinality(words);
BEGIN
    WHILE last - first >= 2 AND words[first] = ANY (titles) LOOP
        first := first + 1;
    END LOOP;
    WHILE last > first AND words[last] = ANY (forms) LOOP
        last := last - 1;
    END LOOP;
    RETURN _pgrecall.strip_accents(array_to_string(words[first:last], ' '));
END
$function$;
