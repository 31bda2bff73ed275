-- Returns the simple time phrases of other languages: a pattern of the query, and its English phrase.
--
-- A template's words are translated one by one (translated_time_words); numbers and English words stay. The first pattern that
-- matches counts. A pattern is tried only where one of its hints does: each compiled one pushes another out of the session's.
--
-- hints  LIKE patterns, in small letters and after a space; question_time_hints() has them too, so they must be rare in questions
--        without a time
CREATE OR REPLACE FUNCTION _pgrecall.time_phrases()
RETURNS TABLE (place integer, hints text[], pattern text, template text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 90
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
        (5, '{"%月%"}'::text[],
            '(?:((?:19|20)\d\d)年)?(\d{1,2})月(\d{1,2})[日号號]?(?:到|至|から|[-~～])(\d{1,2})[日号號]', 'between \3.\2.\1 and \4.\2.\1'),
        (6, '{"%月%"}'::text[],
            '(?:((?:19|20)\d\d)年)?(\d{1,2})月(\d{1,2})[日号號]?(?:到|至|から|[-~～])(\d{1,2})月(\d{1,2})[日号號]', 'between \3.\2.\1 and \5.\4.\1'),
        -- Days near today. The longer words go before those that they contain.
        (7, '{"%gestern%","%ayer%","% antier%","%hier%","%вчера%","%前天%","%一昨日%","%おととい%","%eergisteren%","%anteontem%",'
            '"%altro ieri%","%avantieri%","%أمس%"}'::text[],
            '\mvorgestern\M|\manteayer\M|\mantier\M|\mavant-hier\M|\mпозавчера\M|前天|一昨日|おととい|\meergisteren\M|\manteontem\M'
            '|\maltro ieri\M|\mavantieri\M|\mأول أمس\M', '2 days ago'),
        (8, '{"% anoche%","% gestern %","% ayer %","%gisteravond%","% ieri sera%","% ontem %","%昨晚%","%昨夜%"}'::text[],
            '\manoche\M|\mgestern (?:abend|nacht)\M|\mayer (?:por|en) la noche\M|\mgisteravond\M|\mieri sera\M|\montem (?:à'
            '|de) noite\M|昨晚|昨夜', 'last night'),
        (9, '{"%gestern%","%ayer%","%вчера%","%昨%","%きのう%","%gisteren%","% ontem%","% ieri%","%أمس%","%بالامس%"}'::text[],
            '\mgestern\M|\mayer\M|\mвчера\M|昨天|昨日|きのう|\mgisteren\M|\montem\M|\mieri\M|\m(?:بال)?أمس\M|\mبالامس\M', 'yesterday'),
        -- The German word means "here".
        (10, '{"%hier%"}'::text[],
            '^(?=.*\m(?:je|j.ai|nous|vous|avons|avez|est-ce|quoi|que|quel|quelle|qui|soir)\M).*\mhier\M', 'yesterday'),
        -- "Today" is mostly nowadays, unless somebody asks about their own day.
        (11, '{"% heute%","% hoy%","%aujourd%","% oggi%","% hoje%","% vandaag%","%сегодня%"}'::text[],
            '^(?=.*\m(?:ich|wir|mein\w*|unser\w*|hice|hicimos|he|hemos|mi|mis|nuestr\w+|je|nous|mon|ma|mes|notre|nos|j.ai|ho|abbiamo'
            '|mio|mia|nostr\w+|eu|fiz|fizemos|meu|minha|noss\w+|ik|wij|we|mijn|ons|onze|я|мы|мне|мой|моя|мои|нас)\M).*\m(?:heute|hoy'
            '|aujourd.hui|oggi|hoje|vandaag|сегодня)\M', 'today'),
        (12, '{"%今天%","%今日%"}'::text[], '^(?=.*(?:我|咱|私|僕|俺)).*(?:今天|今日)', 'today'),
        (13, '{"%اليوم%"}'::text[], '^(?=.*\m(?:فعلت|فعلنا|أكلت|قلت|قلنا|كنت|كنا)\M).*\mاليوم\M', 'today'),
        -- German
        (14, '{"% vorletzte%"}'::text[],
            '\mvorletzte[nrsm]? (woche|monat|jahr|wochenende|' || _pgrecall.translated_weekdays('de') || ')\M', '2 \1 ago'),
        (15, '{"% letzte%","% vorige%","% vergangene%","% diese%","% nächste%"}'::text[],
            '\m(letzte|vorige|vergangene|diese|nächste)[nrsm]? (woche|monat|jahr|wochenende|quartal|frühling|frühjahr|sommer|herbst'
            '|winter)\M', '\1 \2'),
        (16, '{"%am wochenende%"}'::text[], '\mam wochenende\M', 'last weekend'),
        (17, '{"%tag%","%mittwoch%","%sonnabend%"}'::text[],
            '\m(?:am|letzten|vorigen|vergangenen) (?:letzten |vorigen '
            '|vergangenen )?(' || _pgrecall.translated_weekdays('de') || ')\M', 'last \1'),
        (18, '{"% vor %"}'::text[],
            '\mvor (\d{1,3}|einem|einer|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn) (tag|woche|monat|jahr)(?:en|n'
            '|e)?\M', '\1 \2 ago'),
        (19, _pgrecall.translated_month_hints('de'), '\m(\d{1,2})\. ' || _pgrecall.translated_months('de'), '\1 \2 \3'),
        (20, _pgrecall.translated_month_hints('de'),
            '\m((?:seit )?(?:anfang|mitte|ende)|im|seit|letzten) ' || _pgrecall.translated_months('de'), '\1 \2 \3'),
        (21, '{"% am _.%","% am __.%"}'::text[], '\mam (\d{1,2}\.\d{1,2})(?!\.?\d)', '\1'),
        (22, '{"% kw%"}'::text[], '\mkw ?(\d{1,2})(?:[ /]((?:19|20)\d\d))?\M', 'week \1 \2'),
        -- "Since" a weekday
        (23, '{"% seit %","% desde %","% depuis %","% sinds %"}'::text[],
            '\m(seit|desde|depuis|sinds) (?:dem |el |o |a |le )?(' || _pgrecall.translated_weekdays('de')
            || '|' || _pgrecall.translated_weekdays('es') || '|' || _pgrecall.translated_weekdays('fr')
            || '|' || _pgrecall.translated_weekdays('nl') || ')\M', '\1 \2'),
        -- Spanish
        (24, '{"% pasad%"}'::text[], '\m(?:fin de semana pasado|pasado fin de semana)\M', 'last weekend'),
        (25, '{"% antepasad%"}'::text[], '\m(semana|mes|año|' || _pgrecall.translated_weekdays('es') || ') antepasad[oa]\M', '2 \1 ago'),
        (26, '{"% pasad%"}'::text[],
            '\m(semana|mes|año|verano|otoño|invierno|primavera|' || _pgrecall.translated_weekdays('es') || ') pasad[oa]\M', 'last \1'),
        (27, '{"% pasad%","% últim%"}'::text[],
            '\m(?:pasad[oa]|último) (semana|mes|año|' || _pgrecall.translated_weekdays('es') || ')\M', 'last \1'),
        (28, '{"% est_ %"}'::text[], '\meste fin de semana\M', 'this weekend'),
        (29, '{"% est_ %"}'::text[], '\m(?:esta (semana)|este (mes|mês|año|ano))\M', 'this \1\2'),
        (30, '{"%que viene%","%próxim%"}'::text[],
            '\m(?:la (semana)|el (mes|año)) que viene\M|\mpróxim[oa] (semana|mes|mês|año|ano)\M', 'next \1\2\3'),
        (31, '{"% hace %"}'::text[],
            '\mhace (\d{1,3}|una?|dos|tres|cuatro|cinco|seis) (día|semana|mes|año'
            '|' || _pgrecall.translated_weekdays('es') || ')(?:e?s)?\M', '\1 \2 ago'),
        (32, _pgrecall.translated_month_hints('es'), '\m(\d{1,2}) de ' || _pgrecall.translated_months('es'), '\1 \2 \3'),
        (33, _pgrecall.translated_month_hints('es'),
            '\m(?:a )?(en|desde|principios de|mediados de|finales de) ' || _pgrecall.translated_months('es'), '\1 \2 \3'),
        -- French
        (34, '{"%avant-derni%"}'::text[],
            '\mavant-derni(?:er|ère) (semaine|mois|année|week-end|' || _pgrecall.translated_weekdays('fr') || ')\M', '2 \1 ago'),
        (35, '{"% derni%","% pass%"}'::text[],
            '\m(semaine|mois|an|année|week-end|été|automne|hiver|printemps'
            '|' || _pgrecall.translated_weekdays('fr') || ') (?:derni(?:er|ère)|passée?)\M', 'last \1'),
        (36, '{"% cette %","% ce mois%","% ce week%"}'::text[], '\m(?:cette (semaine|année)|ce (mois|week-end))\M(?!-)', 'this \1\2'),
        (37, '{"% prochain%"}'::text[], '\m(semaine|mois|année|week-end) prochaine?\M', 'next \1'),
        (38, '{"%il y a%"}'::text[], '\mil y a (\d{1,3}|une?|deux|trois|quatre|cinq|six) (jour|semaine|mois|an)s?\M', '\1 \2 ago'),
        (39, _pgrecall.translated_month_hints('fr'), '\m(?:le )?(\d{1,2})(?:er)? ' || _pgrecall.translated_months('fr'), '\1 \2 \3'),
        (40, _pgrecall.translated_month_hints('fr'), '\m(en|depuis|début|fin) ' || _pgrecall.translated_months('fr'), '\1 \2 \3'),
        -- Italian
        (41, '{"%scors%"}'::text[], '\m(?:fine settimana|weekend) scorso\M|\mscorso (?:fine settimana|weekend)\M', 'last weekend'),
        (42, '{"%scors%"}'::text[],
            '\m(settimana|mese|anno|estate|' || _pgrecall.translated_weekdays('it') || ') scors[oa]\M|\mscors[oa] (settimana|mese'
            '|anno|estate|' || _pgrecall.translated_weekdays('it') || ')\M', 'last \1\2'),
        (43, '{"% quest%"}'::text[], '\m(?:questa (settimana)|questo (mese)|quest.(anno))\M', 'this \1\2\3'),
        (44, '{"%prossim%"}'::text[], '\m(settimana|mese|anno) prossim[oa]\M|\mprossim[oa] (settimana|mese|anno)\M', 'next \1\2'),
        (45, '{"% fa","% fa _%","% fa_"}'::text[],
            '\m(\d{1,3}|una?|due|tre|quattro|cinque|sei) (giorn[oi]|settiman[ae]|mes[ei]|ann[oi]) fa\M', '\1 \2 ago'),
        -- Portuguese
        (46, '{"% passad%"}'::text[], '\m(?:no |o )?fim de semana passado\M', 'last weekend'),
        (47, '{"% retrasad%"}'::text[], '\m(?:n?[ao] )?(semana|mês|ano) retrasad[oa]\M', '2 \1 ago'),
        (48, '{"% passad%"}'::text[], '\m(?:n?[ao] )?(semana|mês|ano|sábado|domingo) passad[oa]\M', 'last \1'),
        (49, '{"% passad%"}'::text[], '\m(?:n?a )?(segunda|terça|quarta|quinta|sexta)(?:-feira)? passada\M', 'last \1-feira'),
        (50, '{"% últim%"}'::text[], '\m(?:n?a )?última (segunda|terça|quarta|quinta|sexta)(?:-feira)?\M', 'last \1-feira'),
        (51, '{"% há %"}'::text[],
            '\mhá (\d{1,3}|uma?|dois|duas|três|quatro|cinco|seis) (dia|semana|mes|mês|ano)(?:e?s)?\M', '\1 \2 ago'),
        (52, '{"% atrás%"}'::text[],
            '\m(\d{1,3}|uma?|dois|duas|três|quatro|cinco|seis) (dia|semana|mes|mês|ano)(?:e?s)? atrás\M', '\1 \2 ago'),
        -- Dutch
        (53, '{"% vorig%","% afgelopen %","% verleden %","% deze %","% dit %","% volgend%"}'::text[],
            '\m(vorige|vorig|afgelopen|verleden|deze|dit|volgende?) (week|maand|jaar|weekend|zomer|winter)\M', '\1 \2'),
        (54, '{"% vorige %","% afgelopen %","% verleden %"}'::text[],
            '\m(?:vorige|afgelopen|verleden) (' || _pgrecall.translated_weekdays('nl') || ')\M', 'last \1'),
        (55, '{"%geleden%"}'::text[],
            '\m(\d{1,3}|een|één|twee|drie|vier|vijf|zes) (dag|dagen|week|weken|maand|maanden|jaar) geleden\M', '\1 \2 ago'),
        -- Russian
        (56, '{"%позапрошл%"}'::text[], '\m(?:на |в )?позапрош(?:лой|лом|лый) (неделе|месяце|году)\M', '2 \1 ago'),
        (57, '{"%прошл%"}'::text[], '\m(?:на|в) прошлой? (неделе)\M|\mв прошлом (месяце|году)\M|\mв прошлые (выходные)\M', 'last \1\2\3'),
        (58, '{"%прошл%"}'::text[], '\m(?:в )?прош(?:лый|лую|лое) (' || _pgrecall.translated_weekdays('ru') || ')\M', 'last \1'),
        (59, '{"% этой неделе%","% этом %"}'::text[], '\mна этой (неделе)\M|\mв этом (месяце|году)\M', 'this \1\2'),
        (60, '{"%следующ%"}'::text[], '\mна следующей (неделе)\M|\mв следующем (месяце|году)\M', 'next \1\2'),
        (61, '{"% назад%"}'::text[],
            '\m(\d{1,3}|один|одну|два|две|три|четыре|пять|шесть) (день|дня|дней|неделю|недели|недель|месяца?|месяцев|года?'
            '|лет) назад\M', '\1 \2 ago'),
        (62, '{"% назад%"}'::text[], '\m(неделю|месяц|год) назад\M', '1 \1 ago'),
        (63, _pgrecall.translated_month_hints('ru'),
            '\m(\d{1,2}|в|в начале|в середине|в конце|с) ' || _pgrecall.translated_months('ru'), '\1 \2 \3'),
        -- Chinese and Japanese: a day of last week, not the last such day
        (64, '{"%先々週%","%上上%"}'::text[], '先々週|上上周|上上週|上上?个?星期', '2 weeks ago'),
        (65, '{"%上周%","%上週%","%上星期%","%上礼拜%","%上個%","%上个%"}'::text[],
            '上(?:周|週|個星期|个星期|星期|礼拜|個禮拜|个礼拜)([一二三四五六日天])(?![天个個周])', '周\1 last week'),
        (66, '{"%先週%"}'::text[], '先週の?([月火水木金土日])曜日?', '\1曜 last week'),
        (67, '{"%曜%"}'::text[], '(?:前の|先日の|この前の)([月火水木金土日])曜日?', 'last \1曜'),
        (68, '{"%上周%","%上週%","%上個%","%先週%"}'::text[], '上周末|上週末|上個週末|先週末|先週の週末', 'last weekend'),
        (69, '{"%上周%","%上週%","%上星期%","%上個%","%上个%","%上礼拜%","%先週%"}'::text[], '上周|上週|上個?星期|上个星期|上个?礼拜|先週', 'last week'),
        (70, '{"%上个%","%上個%","%先月%"}'::text[], '上个月|上個月|先月', 'last month'),
        (71, '{"%去年%","%昨年%"}'::text[], '去年|昨年', 'last year'),
        (72, '{"%本周%","%这周%","%這週%","%今週%"}'::text[], '本周|这周|這週|今週', 'this week'),
        (73, '{"%本月%","%这个月%","%這個月%","%今月%"}'::text[], '本月|这个月|這個月|今月', 'this month'),
        (74, '{"%下周%","%下週%","%来週%"}'::text[], '(?:下周|下週|来週)(?![一二三四五六日天の])', 'next week'),
        (75, '{"%天前%","%周前%","%週%","%月前%","%年前%","%日前%"}'::text[], '(\d{1,3}|[一二两三四五六])(?:个|個|か|ヶ)?(天|日|周|週間|星期|月|年)前', '\1 \2 ago'),
        (76, '{"%月%"}'::text[], '((?:19|20)\d\d)年(\d{1,2})月(\d{1,2})[日号號]', '\1-\2-\3'),
        (77, '{"%月%"}'::text[], '((?:19|20)\d\d)年(\d{1,2})月', '\1-\2'),
        (78, '{"%月%"}'::text[], '(\d{1,2})月(\d{1,2})[日号號]', '\2.\1'),
        -- Arabic
        (79, '{"%الماض%"}'::text[],
            '\m(الأسبوع|الاسبوع|الشهر|السنة|العام|' || _pgrecall.translated_weekdays('ar') || ') الماضي(?:ة)?\M', 'last \1'),
        (80, '{"% هذا %","% هذه %"}'::text[], '\m(?:هذا|هذه) (الأسبوع|الاسبوع|الشهر|السنة|العام)\M', 'this \1')
    ) AS t (place, hints, pattern, template);
END;
