-- Returns the simple time phrases of other languages: a pattern of the query, and its English phrase.
--
-- Words for today are left out: in a question they mostly mean nowadays.
--
-- A template's words are translated one by one (words); numbers and English words stay. The first pattern that matches counts.
CREATE OR REPLACE FUNCTION _pgrecall.time_phrases()
RETURNS TABLE (place integer, pattern text, template text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 20
BEGIN ATOMIC
    SELECT t.place, t.pattern, t.template
    FROM (VALUES
        (0, '\mfin de semana pasado\M', 'last weekend'),
        (1, '\mvorgestern\M|\manteayer\M|\mantier\M|\mavant-hier\M|\mпозавчера\M|前天', '2 days ago'),
        (2, '\mgestern\M|\mayer\M|\mвчера\M|昨天|昨日', 'yesterday'),
        (4, '\m(?:letzte|vorige|vergangene)[nrsm]? (woche|monat|jahr|wochenende)\M', 'last \1'),
        (5, '\m(?:diese)[nrsm]? (woche|monat|jahr|wochenende)\M', 'this \1'),
        (6, '\mam (wochenende)\M', 'last \1'),
        (7, '\m(?:am|letzten|vorigen|vergangenen) ((?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend)\M', 'last \1'),
        (8, '\mvor (\d{1,3}|einem|einer|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn) (tag|woche|monat|jahr)(?:en|n|e)?\M',
            '\1 \2 ago'),
        (9, '\m(\d{1,2})\. (januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)\M', '\1 \2'),
        (10, '\mim (januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)\M', 'in \1'),
        (11, '\m(semana|mes|año) pasad[oa]\M', 'last \1'),
        (12, '\mhace (\d{1,3}|una?|dos|tres|cuatro|cinco|seis) (día|semana|mes|año)(?:e?s)?\M', '\1 \2 ago'),
        (13, '\m(semaine|mois|année|week-end) (?:dernière?|passée?)\M', 'last \1'),
        (14, '\mil y a (\d{1,3}|une?|deux|trois|quatre|cinq|six) (jour|semaine|mois|an)s?\M', '\1 \2 ago'),
        (15, '\mна прошлой неделе\M', 'last week'),
        (16, '\mв прошлом месяце\M', 'last month'),
        (17, '\mв прошлом году\M', 'last year'),
        (18, '\mв прошлые выходные\M', 'last weekend'),
        (19, '上周末|上個週末', 'last weekend'),
        (20, '上周|上星期|上個星期', 'last week'),
        (21, '上个月|上個月', 'last month'),
        (22, '去年', 'last year'),
        -- The German word means "here".
        (23, '^(?=.*\m(?:je|j.ai|nous|vous|avons|avez|est-ce|quoi|que|quel|quelle|qui|soir)\M).*\mhier\M', 'yesterday')
    ) AS t (place, pattern, template);
END;
