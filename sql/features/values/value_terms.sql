-- Returns a lexeme for each value in a text, the same for all its notations: dates, times, phone numbers, quantities,
-- money. NULL if it has none.
--
-- Dates, times of day, phone numbers, quantities and money; a number without a unit only if it is large and round, grouped, or a
-- number of thousands or millions. A text without a digit or a Chinese numeral has none, at the cost of one test. A value
-- lexeme begins with =, which no word does, and has no position in a tsvector, so it does not count towards a text's length.
--
-- It cuts the text into numbers, words and signs once, and looks at each number with its neighbours. Patterns for each kind of
-- value took ten times as long.
CREATE OR REPLACE FUNCTION _pgrecall.value_terms(content text)
RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    months CONSTANT jsonb := _pgrecall.dated_months();
    units CONSTANT jsonb := _pgrecall.unit_names();
    -- Between a day, its month and its year.
    links CONSTANT text[] := '{.,of,de,d,'',’,del,the,st,nd,rd,th,er,º,ª,",",do,di}'::text[];
    openers CONSTANT text[] := '{on,by,until,since,from,am,vom,bis,zum,den,dem,der,ab,seit,le,el,il,op,em,the}'::text[];
    -- Before a number that is no phone's.
    filed CONSTANT text[] := '{#,order,orders,invoice,ticket,case,id,ref,reference,no,nr,serial,isbn,account,commit,bestellung,auftrag,
        rechnung,pedido,factura,commande,facture,ordine,fattura}'::text[];
    currencies CONSTANT text[] := _pgrecall.currency_signs();
    degrees CONSTANT text[] := '{degrees,degree,grad,degres,grados,gradi,graus,graden,градусов}'::text[];
    scales CONSTANT jsonb := _pgrecall.scale_names();
    plain text;
    tokens text[];
    token text;
    before text;
    following text;
    later text;
    half text;
    pieces text[];
    digits text;
    shape text;  -- of the number, with d for each digit
    stop integer;
    part integer;
    smaller jsonb;
    found text[] := '{}'::text[];
BEGIN
    IF content IS NULL OR (_pgrecall.fold_digits(content) !~ '[0-9]'
                           AND (octet_length(content) = length(content) OR content !~ _pgrecall.numerals())) THEN
        RETURN NULL;
    END IF;
    plain := translate(
        lower(_pgrecall.strip_accents(_pgrecall.fold_digits(left(content, 65536)))),
        E'\u2010\u2011\u2012\u2013\u2014\u2212\u00a0\u202f\u2009', '------   '
    );
    -- Cheaper than regular expressions, of which a session keeps 32 compiled.
    shape := translate(plain, E'0123456789\u2019', 'dddddddddd''');
    IF shape LIKE '%dtdd:%' THEN
        plain := regexp_replace(plain, '(\d)t(\d\d:)', '\1 \2', 'g');  -- 2026-12-09T10:30
    END IF;
    IF shape LIKE '%d''ddd%' THEN
        plain := regexp_replace(plain, '(\d)[''\u2019](?=\d{3}(?:\D|$))', '\1', 'g');  -- 3'400 francs
    END IF;
    plain := _pgrecall.spell_values(plain);
    tokens := ARRAY(
        SELECT t.token[1]
        FROM regexp_matches(
            plain, '[0-9][0-9.,:/-]*[0-9]|[0-9]|[[:alpha:]_][[:alnum:]_\u0900-\u0dff\u0e00-\u0eff]*|[^[:alnum:][:space:]_]', 'g'
        ) AS t (token)
    );
    FOR place IN 1 .. cardinality(tokens) LOOP
        token := tokens[place];
        CONTINUE WHEN token < '0' COLLATE "C" OR token >= ':' COLLATE "C" OR length(token) > 25;
        shape := translate(token, '0123456789', 'dddddddddd');
        -- Rs. 1,500
        before := tokens[place - 1 - (tokens[place - 1] = '.' AND COALESCE(tokens[place - 2] = ANY (currencies), false))::integer];
        following := tokens[place + 1];
        later := tokens[place + 2];
        half := CASE
            WHEN following IN ('am', 'pm') THEN left(following, 1)
            WHEN following IN ('a', 'p') AND later = '.' AND tokens[place + 3] = 'm' THEN following
        END;

        -- Days beside the name of a month, and the year after both
        IF shape IN ('d', 'dd', 'd-d', 'd-dd', 'dd-dd') THEN
            pieces := string_to_array(token, '-');
            stop := place + 1;
            WHILE tokens[stop] = ANY (links) AND stop < place + 4 AND tokens[stop] <> ',' LOOP
                stop := stop + 1;
            END LOOP;
            IF NOT COALESCE(months ? tokens[stop], false) THEN
                stop := place - 1;
                WHILE tokens[stop] = ANY (links) AND stop > place - 3 LOOP
                    stop := stop - 1;
                END LOOP;
            END IF;
            IF months ? tokens[stop] THEN
                FOR day IN pieces[1]::integer .. least(31, pieces[cardinality(pieces)]::integer) LOOP
                    found := found || _pgrecall.date_terms(NULL, months ->> tokens[stop], day::text, false);
                END LOOP;
                CONTINUE;
            END IF;
        ELSIF shape = 'dddd' AND token BETWEEN '1800' AND '2199' THEN
            stop := place - 1;
            WHILE stop > place - 6 AND (tokens[stop] = ANY (links)
                OR translate(tokens[stop], '0123456789', 'dddddddddd') IN ('d', 'dd', 'd-d', 'd-dd', 'dd-dd')) LOOP
                stop := stop - 1;
            END LOOP;
            IF months ? tokens[stop] THEN
                found := found || _pgrecall.date_terms(token, months ->> tokens[stop], NULL, false);
                CONTINUE;
            END IF;
        END IF;

        -- Phone numbers: everything up to the next word
        IF before IN ('+', '(') OR (token LIKE '0%' AND length(token) > 1)
           OR shape IN ('ddd-ddd-dddd', 'ddd.ddd.dddd', 'd-ddd-ddd-dddd', 'ddd-dddd')
           -- A number of a country may have no sign in it at all; that of an order mostly says so.
           OR (shape IN ('ddddddddd', 'dddddddddd', 'ddddddddddd', 'dddddddddddd')
               AND COALESCE(before, '') <> ALL (filed) AND NOT COALESCE(units ? following, false)
               AND NOT (before IN ('.', ':', 'number', 'nummer') AND COALESCE(tokens[place - 2], '') = ANY (filed))
               AND (shape <> 'ddddddddd' OR (token NOT LIKE '1%' AND token NOT LIKE '%000')))
           OR (shape = 'ddd' AND translate(following || ' ' || later, '0123456789', 'dddddddddd') = 'ddd dddd') THEN
            digits := '';
            stop := place;
            WHILE stop < place + 12 AND ltrim(tokens[stop], '0123456789()-./') = '' AND tokens[stop] <> '.' LOOP
                digits := digits || tokens[stop];
                stop := stop + 1;
            END LOOP;
            digits := translate(digits, '()-./', '');
            IF length(digits) BETWEEN 7 AND 15 AND (before = '+' OR strpos(shape, ',') = 0 AND shape NOT IN (
                   'dd/dd/dddd', 'dd/d/dddd', 'dd/dd/dd', 'dd-dd-dddd', 'dd-d-dddd', 'dd-dd-dd', 'dd.dd.dddd', 'dd.d.dddd', 'dd.dd.dd',
                   'dddd-dd-dd'
               ) AND NOT shape LIKE 'd.%' AND shape <> 'dd.dd') THEN
                found := found || ('=p' || right(digits, 7));
            END IF;
        END IF;

        IF strpos(token, ':') > 0 THEN
            FOR piece IN 1 .. 2 LOOP
                pieces := string_to_array(split_part(token, '-', piece), ':');
                CONTINUE WHEN cardinality(pieces) NOT BETWEEN 2 AND 3 OR pieces[1] !~ '^[0-9]{1,2}$' OR pieces[2] !~ '^[0-9]{2}$';
                IF half IS NULL AND units -> following ->> 0 = 's' AND following <> 'h' THEN
                    found := found || ('=q' || (pieces[1]::integer * 60 + pieces[2]::integer)
                                               * CASE WHEN units -> following ->> 1 = '3600' THEN 60 ELSE 1 END || 's');
                ELSE
                    found := found || _pgrecall.clock_terms(pieces[1], pieces[2], half);
                END IF;
            END LOOP;
            CONTINUE;
        END IF;
        -- A quarter to 7 is 6:45, and so is German's Viertel vor 7; halb 7 is 6:30.
        IF shape IN ('d', 'dd') AND token::integer BETWEEN 1 AND 12 AND (before = 'halb' OR (
               before IN ('past', 'after', 'to', 'before', 'nach', 'vor') AND tokens[place - 2] IN ('half', 'quarter', 'viertel'))) THEN
            found := found || _pgrecall.clock_terms(
                (CASE WHEN before IN ('halb', 'to', 'before', 'vor') THEN (token::integer + 10) % 12 + 1 ELSE token::integer END)::text,
                CASE WHEN before = 'halb' OR tokens[place - 2] = 'half' THEN '30'
                     WHEN before IN ('to', 'before', 'vor') THEN '45'
                     ELSE '15' END,
                half
            );
            CONTINUE;
        END IF;
        IF shape = 'dddd' AND following IN ('h', 'hrs', 'hours') AND token ~ '^(?:[01]\d|2[0-3])[0-5]\d$' THEN
            found := found || _pgrecall.clock_terms(left(token, 2), right(token, 2), NULL);
        END IF;
        IF half IS NOT NULL OR following IN ('uhr', 'h', 'heures', 'uur', 'o')
           OR translate(following, '0123456789', 'dddddddddd') = 'hdd'
           OR (before IN ('at', 'um', 'om', 'alle') AND shape IN ('d.dd', 'dd.dd')) THEN
            pieces := string_to_array(token, '.');
            IF shape IN ('d', 'dd', 'd.dd', 'dd.dd') THEN
                digits := NULLIF(ltrim(following, 'abcdefghijklmnopqrstuvwxyz'''), '');
                found := found || _pgrecall.clock_terms(
                    pieces[1],
                    CASE WHEN pieces[2] IS NULL AND following IN ('heures', 'h') AND later = 'et' AND tokens[place + 3] LIKE 'demi%'
                             THEN '30'
                         ELSE COALESCE(pieces[2], digits, '00') END,
                    half
                );
                IF digits IS NOT NULL AND strpos(token, '.') = 0 THEN
                    found := found || ('=q' || token::integer * 3600 + digits::integer * 60 || 's');  -- 1h30 may be how long it takes
                END IF;
            END IF;
            CONTINUE WHEN following IS DISTINCT FROM 'h';
        END IF;

        -- Quantities and money
        stop := place + 1;
        digits := token;
        IF shape IN ('d', 'dd', 'ddd') THEN
            WHILE translate(tokens[stop], '0123456789', 'dddddddddd') IN ('ddd', 'ddd,dd', 'ddd.dd') AND stop < place + 4 LOOP
                digits := digits || tokens[stop];  -- 1 500 km
                stop := stop + 1;
            END LOOP;
            IF stop > place + 1 AND NOT (COALESCE(units ? tokens[stop], false) OR before = ANY (currencies)) THEN
                digits := token;
                stop := place + 1;
            END IF;
        END IF;
        -- Romanian 20 de minute
        IF tokens[stop] = '-' OR (tokens[stop] = 'de' AND units ? tokens[stop + 1])
           OR (tokens[stop] = ANY (degrees) AND tokens[stop + 1] IN ('celsius', 'fahrenheit')) THEN
            stop := stop + 1;
        ELSIF tokens[stop] = '°' THEN
            tokens[stop + 1] := '°' || tokens[stop + 1];
            stop := stop + 1;
        END IF;
        tokens[stop] := _pgrecall.leading_unit(tokens[stop], units);
        IF scales ? tokens[stop] THEN
            IF tokens[stop + 1] IN ('.', 'de', 'di') AND units ? tokens[stop + 2] THEN
                tokens[stop + 1] := tokens[stop + 2];  -- 1,5 Mio. €, 2 millones de euros
            ELSIF tokens[stop + 1] = 'd' AND units ? tokens[stop + 3] THEN
                tokens[stop + 1] := tokens[stop + 3];  -- 2 millions d'euros
            END IF;
            tokens[stop + 1] := _pgrecall.leading_unit(tokens[stop + 1], units);
        END IF;
        IF tokens[stop + 1] = '/' AND units ? (tokens[stop] || '/' || tokens[stop + 2]) THEN
            tokens[stop] := tokens[stop] || '/' || tokens[stop + 2];  -- km/h
            tokens[stop + 1] := NULL;
        END IF;
        IF before = ANY (currencies) THEN
            found := found || _pgrecall.quantity_terms(digits, units -> before, COALESCE((scales ->> tokens[stop])::numeric, 1));
        ELSIF scales ? tokens[stop] AND units ? tokens[stop + 1] THEN
            found := found || _pgrecall.quantity_terms(digits, units -> tokens[stop + 1], (scales ->> tokens[stop])::numeric);
        ELSIF units ? tokens[stop] AND NOT COALESCE(tokens[stop + 1] = '/', false) THEN
            IF strpos(digits, '-') > 0 THEN
                found := found || _pgrecall.quantity_terms(split_part(digits, '-', 1), units -> tokens[stop], 1);
                digits := split_part(digits, '-', 2);
            END IF;
            -- 1 hour 30 minutes, 4 minutes and 51 seconds
            part := stop + 1 + (tokens[stop + 1] IN ('and', 'und', 'y', 'et', 'e', 'en'))::integer;
            smaller := units -> _pgrecall.leading_unit(tokens[part + 1], units);
            IF ltrim(digits, '0123456789') = '' AND length(digits) < 5
               AND ltrim(tokens[part], '0123456789') = '' AND length(tokens[part]) < 3 AND tokens[part] NOT LIKE '0%'
               AND units -> tokens[stop] = jsonb_build_array('s', 60 * (CASE WHEN smaller ->> 0 = 's' THEN smaller ->> 1 END)::integer) THEN
                found := found || ('=q' || (60 * digits::integer + tokens[part]::integer) * (smaller ->> 1)::integer || 's');
            END IF;
            -- "-20 °C", but not "10 - 20 °C", nor the dash of "oven - 200 °C", "oven-200 °C" or a list
            found := found || _pgrecall.quantity_terms(
                digits, units -> tokens[stop],
                CASE WHEN units -> tokens[stop] ->> 0 NOT LIKE 'deg_' OR COALESCE(tokens[place - 2] ~ '^[0-9]', false) THEN 1
                     WHEN before IN ('minus', 'moins', 'menos', 'meno', 'минус') THEN -1
                     WHEN before = '-' AND plain ~ ('(?:^|[^[:alnum:]°])-' || token || '(?!\d)') THEN -1
                     ELSE 1 END
            );
        ELSIF scales ? tokens[stop] AND tokens[stop] <> 'm' THEN
            found := found || _pgrecall.quantity_terms(digits, '["", 1]', (scales ->> tokens[stop])::numeric);
        ELSIF (length(token) > 4 AND strpos(translate(shape, '.', ','), ',') > 0
               AND shape ~ '^d{1,3}(?:,ddd)+$|^d{1,2}(?:,dd)+,ddd$|^d{1,3}\.ddd\.ddd$')
              OR (token LIKE '%000' AND ltrim(shape, 'd') = '' AND length(shape) BETWEEN 4 AND 12 AND token NOT IN ('1000', '2000')) THEN
            found := found || _pgrecall.quantity_terms(token, '["", 1]', 1);
        ELSIF following IN ('st', 'nd', 'rd', 'th') AND shape IN ('d', 'dd', 'ddd') THEN
            found := found || ('=o' || token);
        ELSIF shape = 'dddddddd' AND left(token, 2) IN ('19', '20') THEN
            found := found || _pgrecall.date_terms(left(token, 4), substr(token, 5, 2), right(token, 2), true);
        ELSIF translate(shape, 'd,', '') IN ('-', '/', '.', '--', '//', '..') THEN
            -- 9.12 is a date before a point, if a word opens it or the sentence goes on; a percent sign makes it none.
            IF shape NOT IN ('d.d', 'd.dd', 'dd.d', 'dd.dd')
               OR (following = '.' AND (before = ANY (openers) OR (
                   shape LIKE '%.dd' AND plain ~ ('(?:^|[^\d.])' || token || '\.(?: [[:lower:]]|[,;:)])')))) THEN
                -- PyCharm 2024.1.3 is a version, and pytest 8.3.24; am 9.12.26 is a day.
                IF following IS DISTINCT FROM '%' AND NOT (
                    shape IN ('dddd.d.d', 'dddd.dd.d', 'dddd.d.dd') AND before ~ '^[[:alpha:]]' AND octet_length(before) = length(before)
                    AND before <> ALL (openers)) THEN
                    found := found || _pgrecall.numeric_date_terms(
                        CASE
                            WHEN shape IN ('d.d.dd', 'd.dd.dd', 'dd.d.dd')
                                 AND before IN ('am', 'vom', 'bis', 'zum', 'den', 'dem', 'ab', 'seit', 'del', 'dal', 'dnia', 'od', 'do')
                                THEN left(token, -2) || '20' || right(token, 2)
                            ELSE token
                        END, before = ANY (openers) OR following = '.'
                    );
                END IF;
            END IF;
        END IF;
    END LOOP;
    RETURN NULLIF(found, '{}');
END
$function$;
