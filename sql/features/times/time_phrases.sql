-- Returns the simple time phrases of other languages: a pattern of the query, and its English phrase.
--
-- A template's words are translated one by one (translated_time_words); numbers and English words stay. The first pattern that
-- matches counts. A pattern is tried only where one of its hints does: each compiled one pushes another out of the session's.
--
-- hints  LIKE patterns, in small letters and after a space; question_time_hints() has them too, so they must be rare in questions
--        without a time
CREATE OR REPLACE FUNCTION _pgrecall.time_phrases()
RETURNS TABLE (place integer, hints text[], pattern text, template text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 115
BEGIN ATOMIC
    SELECT t.place, t.hints, t.pattern, t.template
    FROM (VALUES
        -- Two ends in one phrase. They go first: alone, the second end would pass for a day.
        (1, _pgrecall.translated_month_hints('de'),
            '\m(?:zwischen|vom|von)(?: dem)? (?:(\d{1,2})\.? ?)?(?:' || _pgrecall.translated_months('de') || ' )?(?:und|bis)(?: dem'
            '| zum)? (?:(\d{1,2})\. )?' || _pgrecall.translated_months('de'), 'between \1 \2 \3 and \4 \5 \6'),
        (2, _pgrecall.translated_month_hints('es'),
            '\m(?:entre|desde|del?)(?: el)? (?:(\d{1,2}) (?:de )?)?(?:' || _pgrecall.translated_months('es') || ' )?(?:y|hasta'
            '|al?)(?: el)? (?:(\d{1,2}) de )?' || _pgrecall.translated_months('es'), 'between \1 \2 \3 and \4 \5 \6'),
        (3, _pgrecall.translated_month_hints('fr'),
            '\m(?:entre|du|de)(?: le)? (?:(\d{1,2})(?:er)? )?(?:' || _pgrecall.translated_months('fr') || ' )?(?:et|au'
            '|à)(?: le)? (?:(\d{1,2})(?:er)? )?' || _pgrecall.translated_months('fr'), 'between \1 \2 \3 and \4 \5 \6'),
        (4, _pgrecall.translated_month_hints('ru'),
            '\m(?:между|со?|от) (?:(\d{1,2}) )?(?:' || _pgrecall.translated_months('ru') || ' )?(?:и|по'
            '|до) (?:(\d{1,2}) )?' || _pgrecall.translated_months('ru'), 'between \1 \2 \3 and \4 \5 \6'),
        -- Days near today. The longer words go before those that they contain.
        (5, '{"%gestern%","%ayer%","% antier%","%hier%","%вчера%","%przedwczoraj%","%eergisteren%","%anteontem%",'
            '"%altro ieri%","%avantieri%"}'::text[],
            '\mvorgestern\M|\manteayer\M|\mantier\M|\mavant-hier\M|\mпозавчера\M|\meergisteren\M|\manteontem\M'
            '|\maltro ieri\M|\mavantieri\M|\mprzedwczoraj\M', '2 days ago'),
        (6, '{"% anoche%","% gestern %","% ayer %","%gisteravond%","% ieri sera%","% ontem %"}'::text[],
            '\manoche\M|\mgestern (?:abend|nacht)\M|\mayer (?:por|en) la noche\M|\mgisteravond\M|\mieri sera\M|\montem (?:à'
            '|de) noite\M', 'last night'),
        (7, '{"%gestern%","%ayer%","%вчера%","%gisteren%","% ontem%","% ieri%","%wczoraj%"}'::text[],
            '\mgestern\M|\mayer\M|\mвчера\M|\mgisteren\M|\montem\M|\mieri\M|\mwczoraj\M', 'yesterday'),
        -- The German word means "here".
        (8, '{"%hier%"}'::text[],
            '^(?=.*\m(?:je|j.ai|nous|vous|avons|avez|est-ce|quoi|que|quel|quelle|qui|soir)\M).*\mhier\M', 'yesterday'),
        -- "Today" is mostly nowadays, unless somebody asks about their own day.
        (9, '{"% heute%","% hoy%","%aujourd%","% oggi%","% hoje%","% vandaag%","%сегодня%"}'::text[],
            '^(?=.*\m(?:ich|wir|mein\w*|unser\w*|hice|hicimos|he|hemos|mi|mis|nuestr\w+|je|nous|mon|ma|mes|notre|nos|j.ai|ho|abbiamo'
            '|mio|mia|nostr\w+|eu|fiz|fizemos|meu|minha|noss\w+|ik|wij|we|mijn|ons|onze|я|мы|мне|мой|моя|мои|нас)\M).*\m(?:heute|hoy'
            '|aujourd.hui|oggi|hoje|vandaag|сегодня)\M', 'today'),
        -- German
        (10, '{"% vorletzte%"}'::text[],
            '\mvorletzte[nrsm]? (woche|monat|jahr|wochenende|' || _pgrecall.translated_weekdays('de') || ')\M', '2 \1 ago'),
        (11, '{"% letzte%","% vorige%","% vergangene%","% diese%","% nächste%"}'::text[],
            '\m(letzte|vorige|vergangene|diese|nächste)[nrsm]? (woche|monat|jahr|wochenende|quartal|frühling|frühjahr|sommer|herbst'
            '|winter)\M', '\1 \2'),
        (12, '{"%am wochenende%"}'::text[], '\mam wochenende\M', 'last weekend'),
        (13, '{"%tag%","%mittwoch%","%sonnabend%"}'::text[],
            '\m(?:am|letzten|vorigen|vergangenen) (?:letzten |vorigen '
            '|vergangenen )?(' || _pgrecall.translated_weekdays('de') || ')\M', 'last \1'),
        (14, '{"% vor %"}'::text[],
            '\mvor (\d{1,3}|einem|einer|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn) (tag|woche|monat|jahr)(?:en|n'
            '|e)?\M', '\1 \2 ago'),
        (15, _pgrecall.translated_month_hints('de'), '\m(\d{1,2})\. ' || _pgrecall.translated_months('de'), '\1 \2 \3'),
        (16, _pgrecall.translated_month_hints('de'),
            '\m((?:seit )?(?:anfang|mitte|ende)|im|seit|letzten) ' || _pgrecall.translated_months('de'), '\1 \2 \3'),
        (17, '{"% am _.%","% am __.%"}'::text[], '\mam (\d{1,2}\.\d{1,2})(?!\.?\d)', '\1'),
        (18, '{"% kw%"}'::text[], '\mkw ?(\d{1,2})(?:[ /]((?:19|20)\d\d))?\M', 'week \1 \2'),
        -- "Since" a weekday
        (19, '{"% seit %","% desde %","% depuis %","% sinds %"}'::text[],
            '\m(seit|desde|depuis|sinds) (?:dem |el |o |a |le )?(' || _pgrecall.translated_weekdays('de')
            || '|' || _pgrecall.translated_weekdays('es') || '|' || _pgrecall.translated_weekdays('fr')
            || '|' || _pgrecall.translated_weekdays('nl') || ')\M', '\1 \2'),
        -- Spanish
        (20, '{"% pasad%"}'::text[], '\m(?:fin de semana pasado|pasado fin de semana)\M', 'last weekend'),
        (21, '{"% antepasad%"}'::text[], '\m(semana|mes|año|' || _pgrecall.translated_weekdays('es') || ') antepasad[oa]\M', '2 \1 ago'),
        (22, '{"% pasad%"}'::text[],
            '\m(semana|mes|año|verano|otoño|invierno|primavera|' || _pgrecall.translated_weekdays('es') || ') pasad[oa]\M', 'last \1'),
        (23, '{"% pasad%","% últim%"}'::text[],
            '\m(?:pasad[oa]|último) (semana|mes|año|' || _pgrecall.translated_weekdays('es') || ')\M', 'last \1'),
        (24, '{"% est_ %"}'::text[], '\meste fin de semana\M', 'this weekend'),
        (25, '{"% est_ %"}'::text[], '\m(?:esta (semana)|este (mes|mês|año|ano))\M', 'this \1\2'),
        (26, '{"%que viene%","%próxim%"}'::text[],
            '\m(?:la (semana)|el (mes|año)) que viene\M|\mpróxim[oa] (semana|mes|mês|año|ano)\M', 'next \1\2\3'),
        (27, '{"% hace %"}'::text[],
            '\mhace (\d{1,3}|una?|dos|tres|cuatro|cinco|seis) (día|semana|mes|año'
            '|' || _pgrecall.translated_weekdays('es') || ')(?:e?s)?\M', '\1 \2 ago'),
        (28, _pgrecall.translated_month_hints('es'), '\m(\d{1,2}) de ' || _pgrecall.translated_months('es'), '\1 \2 \3'),
        (29, _pgrecall.translated_month_hints('es'),
            '\m(?:a )?(en|desde|principios de|mediados de|finales de) ' || _pgrecall.translated_months('es'), '\1 \2 \3'),
        -- French
        (30, '{"%avant-derni%"}'::text[],
            '\mavant-derni(?:er|ère) (semaine|mois|année|week-end|' || _pgrecall.translated_weekdays('fr') || ')\M', '2 \1 ago'),
        (31, '{"% derni%","% pass%"}'::text[],
            '\m(semaine|mois|an|année|week-end|été|automne|hiver|printemps'
            '|' || _pgrecall.translated_weekdays('fr') || ') (?:derni(?:er|ère)|passée?)\M', 'last \1'),
        (32, '{"% cette %","% ce mois%","% ce week%"}'::text[], '\m(?:cette (semaine|année)|ce (mois|week-end))\M(?!-)', 'this \1\2'),
        (33, '{"% prochain%"}'::text[], '\m(semaine|mois|année|week-end) prochaine?\M', 'next \1'),
        (34, '{"%il y a%"}'::text[], '\mil y a (\d{1,3}|une?|deux|trois|quatre|cinq|six) (jour|semaine|mois|an)s?\M', '\1 \2 ago'),
        (35, _pgrecall.translated_month_hints('fr'), '\m(?:le )?(\d{1,2})(?:er)? ' || _pgrecall.translated_months('fr'), '\1 \2 \3'),
        (36, _pgrecall.translated_month_hints('fr'), '\m(en|depuis|début|fin) ' || _pgrecall.translated_months('fr'), '\1 \2 \3'),
        -- Italian
        (37, '{"%scors%"}'::text[], '\m(?:fine settimana|weekend) scorso\M|\mscorso (?:fine settimana|weekend)\M', 'last weekend'),
        (38, '{"%scors%"}'::text[],
            '\m(settimana|mese|anno|estate|' || _pgrecall.translated_weekdays('it') || ') scors[oa]\M|\mscors[oa] (settimana|mese'
            '|anno|estate|' || _pgrecall.translated_weekdays('it') || ')\M', 'last \1\2'),
        (39, '{"% quest%"}'::text[], '\m(?:questa (settimana)|questo (mese)|quest.(anno))\M', 'this \1\2\3'),
        (40, '{"%prossim%"}'::text[], '\m(settimana|mese|anno) prossim[oa]\M|\mprossim[oa] (settimana|mese|anno)\M', 'next \1\2'),
        (41, '{"% fa","% fa _%","% fa_"}'::text[],
            '\m(\d{1,3}|una?|due|tre|quattro|cinque|sei) (giorn[oi]|settiman[ae]|mes[ei]|ann[oi]) fa\M', '\1 \2 ago'),
        -- Portuguese
        (42, '{"% passad%"}'::text[], '\m(?:no |o )?fim de semana passado\M', 'last weekend'),
        (43, '{"% retrasad%"}'::text[], '\m(?:n?[ao] )?(semana|mês|ano) retrasad[oa]\M', '2 \1 ago'),
        (44, '{"% passad%"}'::text[], '\m(?:n?[ao] )?(semana|mês|ano|sábado|domingo) passad[oa]\M', 'last \1'),
        (45, '{"% passad%"}'::text[], '\m(?:n?a )?(segunda|terça|quarta|quinta|sexta)(?:-feira)? passada\M', 'last \1-feira'),
        (46, '{"% últim%"}'::text[], '\m(?:n?a )?última (segunda|terça|quarta|quinta|sexta)(?:-feira)?\M', 'last \1-feira'),
        (47, '{"% há %"}'::text[],
            '\mhá (\d{1,3}|uma?|dois|duas|três|quatro|cinco|seis) (dia|semana|mes|mês|ano)(?:e?s)?\M', '\1 \2 ago'),
        (48, '{"% atrás%"}'::text[],
            '\m(\d{1,3}|uma?|dois|duas|três|quatro|cinco|seis) (dia|semana|mes|mês|ano)(?:e?s)? atrás\M', '\1 \2 ago'),
        -- Dutch
        (49, '{"% vorig%","% afgelopen %","% verleden %","% deze %","% dit %","% volgend%"}'::text[],
            '\m(vorige|vorig|afgelopen|verleden|deze|dit|volgende?) (week|maand|jaar|weekend|zomer|winter)\M', '\1 \2'),
        (50, '{"% vorige %","% afgelopen %","% verleden %"}'::text[],
            '\m(?:vorige|afgelopen|verleden) (' || _pgrecall.translated_weekdays('nl') || ')\M', 'last \1'),
        (51, '{"%geleden%"}'::text[],
            '\m(\d{1,3}|een|één|twee|drie|vier|vijf|zes) (dag|dagen|week|weken|maand|maanden|jaar) geleden\M', '\1 \2 ago'),
        -- Russian
        (52, '{"%позапрошл%"}'::text[], '\m(?:на |в )?позапрош(?:лой|лом|лый) (неделе|месяце|году)\M', '2 \1 ago'),
        (53, '{"%прошл%"}'::text[], '\m(?:на|в) прошлой? (неделе)\M|\mв прошлом (месяце|году)\M|\mв прошлые (выходные)\M', 'last \1\2\3'),
        (54, '{"%прошл%"}'::text[], '\m(?:в )?прош(?:лый|лую|лое) (' || _pgrecall.translated_weekdays('ru') || ')\M', 'last \1'),
        (55, '{"% этой неделе%","% этом %"}'::text[], '\mна этой (неделе)\M|\mв этом (месяце|году)\M', 'this \1\2'),
        (56, '{"%следующ%"}'::text[], '\mна следующей (неделе)\M|\mв следующем (месяце|году)\M', 'next \1\2'),
        (57, '{"% назад%"}'::text[],
            '\m(\d{1,3}|один|одну|два|две|три|четыре|пять|шесть) (день|дня|дней|неделю|недели|недель|месяца?|месяцев|года?'
            '|лет) назад\M', '\1 \2 ago'),
        (58, '{"% назад%"}'::text[], '\m(неделю|месяц|год) назад\M', '1 \1 ago'),
        (59, _pgrecall.translated_month_hints('ru'),
            '\m(\d{1,2}|в|в начале|в середине|в конце|с) ' || _pgrecall.translated_months('ru'), '\1 \2 \3'),
        -- Polish
        (60, '{"% zeszł%","% ubiegł%"}'::text[],
            '\mw (?:zeszły|ubiegły)m (tygodniu|miesiącu|roku)\M|\mw (?:zeszły|ubiegły) (weekend)\M', 'last \1\2'),
        (61, '{"% zeszł%","% ubiegł%"}'::text[],
            '\mwe? (?:zeszł|ubiegł)[yą] (' || _pgrecall.translated_weekdays('pl') || ')\M', 'last \1'),
        (62, '{"% w tym %"}'::text[], '\mw tym (tygodniu|miesiącu|roku)\M', 'this \1'),
        (63, '{"% przyszł%"}'::text[], '\mw przyszłym (tygodniu|miesiącu|roku)\M', 'next \1'),
        (64, '{"% temu%"}'::text[],
            '\m(\d{1,3}|dwa|dwie|trzy|cztery|pięć|sześć) (dni|tygodnie|tygodni|miesiące|miesięcy|lata|lat) temu\M', '\1 \2 ago'),
        (65, '{"% temu%"}'::text[], '\m(tydzień|miesiąc|rok) temu\M', '1 \1 ago'),
        -- Months of languages above
        (66, _pgrecall.translated_month_hints('it'), '\m(\d{1,2})[°º]? ' || _pgrecall.translated_months('it'), '\1 \2 \3'),
        (67, _pgrecall.translated_month_hints('it'),
            '\m(?:ad?|in|nel mese di|lo scorso) ' || _pgrecall.translated_months('it'), 'in \1 \2'),
        (68, _pgrecall.translated_month_hints('it'), '\mda ' || _pgrecall.translated_months('it'), 'since \1 \2'),
        (69, _pgrecall.translated_month_hints('it'), '\m(inizio|metà|fine) ' || _pgrecall.translated_months('it'), '\1 \2 \3'),
        (70, _pgrecall.translated_month_hints('pt'), '\m(?:dia )?(\d{1,2})[°º]? de ' || _pgrecall.translated_months('pt'), '\1 \2 \3'),
        (71, _pgrecall.translated_month_hints('pt'), '\m(?:em|no mês de) ' || _pgrecall.translated_months('pt'), 'in \1 \2'),
        (72, _pgrecall.translated_month_hints('pt'), '\mdesde ' || _pgrecall.translated_months('pt'), 'since \1 \2'),
        (73, _pgrecall.translated_month_hints('pt'),
            '\m(?:n?o |em )?(início|começo|meados|fim|final) de ' || _pgrecall.translated_months('pt'), '\1 \2 \3'),
        (74, _pgrecall.translated_month_hints('nl'), '\m(?:op )?(\d{1,2}) ' || _pgrecall.translated_months('nl'), '\1 \2 \3'),
        (75, _pgrecall.translated_month_hints('nl'), '\m(?:in|afgelopen) ' || _pgrecall.translated_months('nl'), 'in \1 \2'),
        (76, _pgrecall.translated_month_hints('nl'), '\msinds ' || _pgrecall.translated_months('nl'), 'since \1 \2'),
        (77, _pgrecall.translated_month_hints('nl'), '\m(begin|medio|eind) ' || _pgrecall.translated_months('nl'), '\1 \2 \3'),
        (78, _pgrecall.translated_month_hints('pl'), '\m(\d{1,2}) ' || _pgrecall.translated_months('pl'), '\1 \2 \3'),
        (79, _pgrecall.translated_month_hints('pl'), '\mwe? ' || _pgrecall.translated_months('pl'), 'in \1 \2'),
        (80, _pgrecall.translated_month_hints('pl'), '\mod ' || _pgrecall.translated_months('pl'), 'since \1 \2'),
        (81, _pgrecall.translated_month_hints('pl'),
            '\m(?:na |w |pod )(początku|połowie|końcu|koniec) ' || _pgrecall.translated_months('pl'), '\1 \2 \3'),
        -- Days to come. A German or Spanish morning is none.
        (82, '{"%übermorgen%","%pasado mañana%","%après-demain%","%dopodomani%","%depois de amanhã%","%послезавтра%","%pojutrze%",'
            '"%overmorgen%"}'::text[],
            '\mübermorgen\M|\mpasado mañana\M|\maprès-demain\M|\mdopodomani\M|\mdepois de amanhã\M|\mпослезавтра\M'
            '|\mpojutrze\M|\movermorgen\M', 'in 2 days'),
        (83, '{"% demain%","% domani%","% amanhã%","%завтра%","% jutro%"}'::text[],
            '\mdemain\M|\mdomani\M|\mamanhã\M|\mзавтра\M|\mjutro\M', 'tomorrow'),
        (84, '{"% morgen %","% morgen?%","% mañana %","% mañana?%"}'::text[],
            '(?<!\m(?:guten|schönen|am|jeden|diesen|nächsten|goede|iedere|elke|de|den|der|die|in|van|la|cada|una|esta|heute|gestern) )'
            '\m(?:morgen|mañana)\M', 'tomorrow')
    ) AS t (place, hints, pattern, template)
    UNION ALL
    SELECT a.place, a.hints, a.pattern, a.template FROM _pgrecall.asian_time_phrases() a;
END;
