-- Returns the simple time phrases of other languages: a pattern of the query, and its English phrase.
--
-- Words for today are left out: in a question they mostly mean nowadays.
--
-- A template's words are translated one by one (translated_time_words); numbers and English words stay. The first pattern that
-- matches counts. A pattern is tried only where one of its hints does: each compiled one pushes another out of the session's.
--
-- hints  LIKE patterns, in small letters and after a space; question_time_hints() has them too, so they must be rare in questions
--        without a time
CREATE OR REPLACE FUNCTION _pgrecall.time_phrases()
RETURNS TABLE (place integer, hints text[], pattern text, template text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 30
BEGIN ATOMIC
    SELECT t.place, t.hints, t.pattern, t.template
    FROM (VALUES
        (0, '{"% pasad%"}'::text[], '\mfin de semana pasado\M', 'last weekend'),
        (1, '{%gestern%,%ayer%,"% antier%",%hier%,%вчера%,%前天%}', '\mvorgestern\M|\manteayer\M|\mantier\M|\mavant-hier\M|\mпозавчера\M|前天',
            '2 days ago'),
        (2, '{%gestern%,%ayer%,%вчера%,%昨%}', '\mgestern\M|\mayer\M|\mвчера\M|昨天|昨日', 'yesterday'),
        (4, '{"% letzte%","% vorige%","% vergangene%","% diese%","% nächste%"}',
            '\m(letzte|vorige|vergangene|diese|nächste)[nrsm]? (woche|monat|jahr|wochenende|quartal)\M', '\1 \2'),
        (6, '{"%am wochenende%"}', '\mam wochenende\M', 'last weekend'),
        (7, '{%tag%,%mittwoch%,%sonnabend%}',
            '\m(?:am|letzten|vorigen|vergangenen) ((?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend)\M', 'last \1'),
        (8, '{"% vor %"}',
            '\mvor (\d{1,3}|einem|einer|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn) (tag|woche|monat|jahr)(?:en|n|e)?\M',
            '\1 \2 ago'),
        (9, _pgrecall.translated_month_hints('de'), '\m(\d{1,2})\. ' || _pgrecall.translated_months('de'), '\1 \2 \3'),
        (10, _pgrecall.translated_month_hints('de'), '\m((?:seit )?(?:anfang|mitte|ende)|im|seit) ' || _pgrecall.translated_months('de'),
            '\1 \2 \3'),
        (11, '{"% am _.%","% am __.%"}', '\mam (\d{1,2}\.\d{1,2})(?!\.?\d)', '\1'),
        (12, '{"% kw%"}', '\mkw ?(\d{1,2})(?:[ /]((?:19|20)\d\d))?\M', 'week \1 \2'),
        (13, '{"% seit %","% desde %","% depuis %"}',
            '\m(seit|desde|depuis) (?:dem |el |le )?((?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend'
            '|lunes|martes|miércoles|jueves|viernes|sábado|domingo|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\M', '\1 \2'),
        (14, '{"% pasad%"}', '\m(semana|mes|año) pasad[oa]\M', 'last \1'),
        (15, '{"% hace %"}', '\mhace (\d{1,3}|una?|dos|tres|cuatro|cinco|seis) (día|semana|mes|año)(?:e?s)?\M', '\1 \2 ago'),
        (16, _pgrecall.translated_month_hints('es'), '\m(\d{1,2}) de ' || _pgrecall.translated_months('es'), '\1 \2 \3'),
        (17, _pgrecall.translated_month_hints('es'),
            '\m(?:a )?(en|desde|principios de|mediados de|finales de) ' || _pgrecall.translated_months('es'), '\1 \2 \3'),
        (18, '{"% derni%","% pass%"}', '\m(semaine|mois|année|week-end) (?:dernière?|passée?)\M', 'last \1'),
        (19, '{"%il y a%"}', '\mil y a (\d{1,3}|une?|deux|trois|quatre|cinq|six) (jour|semaine|mois|an)s?\M', '\1 \2 ago'),
        (20, _pgrecall.translated_month_hints('fr'), '\m(?:le )?(\d{1,2})(?:er)? ' || _pgrecall.translated_months('fr'), '\1 \2 \3'),
        (21, _pgrecall.translated_month_hints('fr'), '\m(en|depuis|début|fin) ' || _pgrecall.translated_months('fr'), '\1 \2 \3'),
        (22, '{%прошл%}', '\mна прошлой неделе\M', 'last week'),
        (23, '{%прошл%}', '\mв прошлом месяце\M', 'last month'),
        (24, '{%прошл%}', '\mв прошлом году\M', 'last year'),
        (25, '{%прошл%}', '\mв прошлые выходные\M', 'last weekend'),
        (26, _pgrecall.translated_month_hints('ru'),
            '\m(\d{1,2}|в|в начале|в середине|в конце|с) ' || _pgrecall.translated_months('ru'), '\1 \2 \3'),
        (27, '{%上周%,%上個%}', '上周末|上個週末', 'last weekend'),
        (28, '{%上周%,%上星期%,%上個%}', '上周|上星期|上個星期', 'last week'),
        (29, '{%上个%,%上個%}', '上个月|上個月', 'last month'),
        (30, '{%去年%}', '去年', 'last year'),
        (31, '{%月%}', '((?:19|20)\d\d)年(\d{1,2})月(\d{1,2})[日号號]', '\1-\2-\3'),
        (32, '{%月%}', '((?:19|20)\d\d)年(\d{1,2})月', '\1-\2'),
        (33, '{%月%}', '(\d{1,2})月(\d{1,2})[日号號]', '\2.\1'),
        -- The German word means "here".
        (34, '{%hier%}', '^(?=.*\m(?:je|j.ai|nous|vous|avons|avez|est-ce|quoi|que|quel|quelle|qui|soir)\M).*\mhier\M', 'yesterday')
    ) AS t (place, hints, pattern, template);
END;
