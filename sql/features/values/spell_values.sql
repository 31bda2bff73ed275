-- Writes values as value_terms() reads them: 9-Dec-2026 becomes "9 dec 2026", 1h30m "1 hours 30 min", 12月9日 "on 9.12.",
-- 下午3点半 "3:30 pm", 오전 10시 "10:00 am", "3 de la tarde" "3:00 pm", 5㎏ "5kg", 2½ "2.5".
--
-- A session keeps few patterns compiled, so one of each group tells whether the others are needed.
-- An hour without minutes is a time beside 时, but beside 点 (also "point") only with a part of the day before it.
-- An evening begins at five, so 晚上12点 stays without am or pm. Between 10時 and 10時間, ten hours, the next letter decides.
CREATE OR REPLACE FUNCTION _pgrecall.spell_values(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    plain text := content;
    shape text;  -- with 0 for each digit
    ends CONSTANT text := '(?=[块塊]|[^0-9.,:/%\u3041-\u9fff\uac00-\ud7a3]|[.,](?:[^0-9]|$)|$)';
BEGIN
    shape := translate(plain, '123456789’', '000000000''');
    IF shape LIKE ANY ('{%0h%m%,%0 h%m%}'::text[]) THEN
        plain := regexp_replace(plain, '(\d) ?h ?(\d{1,2}) ?m(?:in)?\M', '\1 hours \2 min ', 'g');
    END IF;
    IF plain ~ '\d-?[a-z]{3,9}-?\d' THEN
        plain := regexp_replace(plain, '\m(\d{1,2})-?([a-z]{3,9})-?(\d{4})\M', '\1 \2 \3', 'g');
        plain := regexp_replace(plain, '\m(\d{1,2})-([a-z]{3,9})-(\d\d)\M', '\1 \2 20\3', 'g');
        plain := regexp_replace(plain, '\m(\d{4})-([a-z]{3,9})-(\d{1,2})\M', '\3 \2 \1', 'g');
    END IF;
    IF shape LIKE '%''00%' THEN
        plain := regexp_replace(plain, _pgrecall.short_years(), '\1 20\2', 'g');
    END IF;
    IF shape LIKE ANY ('{%$0%,%$ 0%}'::text[]) THEN
        plain := regexp_replace(plain, '\m(a|c|hk|mx|nt|nz|r|s)\$ ?(?=\d)', 'dollar_\1 ', 'g');
    END IF;
    IF shape LIKE '%0s%' THEN
        plain := regexp_replace(plain, '\m(19[1-9]0|20[12]0|(?<=\m(?:the|early|mid|late)[ -])(?:1[5-9]\d0|2000|\d0))s\M', '\1 decade', 'g');
    END IF;
    IF strpos(plain, ' 1/2 ') > 0 THEN
        plain := regexp_replace(plain, '(\d) 1/2 ', '\1.5 ', 'g');
    END IF;
    IF shape LIKE '%0к%' THEN
        plain := regexp_replace(plain, '(\d)к\M', '\1k', 'g');  -- apart it is "to": в 15 к врачу
    END IF;
    plain := _pgrecall.spell_hours(plain);
    IF octet_length(plain) = length(plain) THEN
        RETURN plain;
    END IF;
    IF plain LIKE '%. %. %.%' THEN
        plain := regexp_replace(plain, '((?:19|20)\d\d)\. (\d{1,2})\. (\d{1,2})(?=\.)', '\1-\2-\3', 'g');
    END IF;
    -- Most texts of Europe have none of the signs and letters below, only accents and €.
    IF plain !~ '[\u00b2\u00b3\u00bc-\u00be\u0e01-\u0e4f\u2100-\u214f\u3005-\u9fff\uac00-\ud7a3\uff21-\uff5a\uffe0-\uffe6]' THEN
        RETURN plain;
    END IF;
    IF plain ~ _pgrecall.numerals() THEN
        plain := _pgrecall.read_numerals(plain);
    END IF;
    plain := _pgrecall.common_dates(plain);
    IF plain ~ '[\u00bc-\u00be]' THEN
        plain := replace(replace(replace(
            regexp_replace(plain, '(?<!\d)(?=[\u00bc-\u00be])', '0', 'g'), '½', '.5'), '¼', '.25'), '¾', '.75');
    END IF;
    IF plain ~ '[\u00b2\u00b3\u2100-\u214f\u3300-\u33ff\uff21-\uff5a\uffe0-\uffe6]' THEN
        plain := left(lower(normalize(plain, NFKC)), 65536);  -- one letter can become eighteen
    END IF;
    IF plain ~ '\d[千万萬億亿천만억] ?\d' THEN
        -- What follows a scale and has none of its own counts the tenth of it: 1万2 is 12,000, but in 2万3个 three are counted.
        plain := regexp_replace(plain, '(\d)[億亿억](\d)' || ends, '\1\2 千万', 'g');
        plain := regexp_replace(plain, '(\d)[万萬만](\d)' || ends, '\1\2 千', 'g');
        -- Of two scales the smaller one is left: 3万5千円 is 35 thousand, 1億2000万円 12,000 times ten thousand.
        plain := regexp_replace(plain, '(\d)(?:[億亿]|억 ?)(\d)([千천] ?[万萬만])', '\1\2 \3', 'g');
        plain := regexp_replace(plain, '(\d)(?:[億亿]|억 ?)(\d{4})(?=[万萬만])', '\1\2', 'g');
        plain := regexp_replace(plain, '(\d)(?:[万萬]|만 ?)(\d)(?=[千천])', '\1\2', 'g');
        plain := regexp_replace(plain, '(\d)(?:千|천 ?)(\d)(?=[百백])', '\1\2', 'g');
        plain := regexp_replace(plain, '(\d)[千천](\d)' || ends, '\1\2 百', 'g');
        plain := regexp_replace(plain, '(\d)(?:[万萬]|만 ?)(\d{4})(?!\d)', '\1\2', 'g');
        plain := regexp_replace(plain, '(\d)(?:[万萬]|만 ?)(\d{3})(?!\d)', '\10\2', 'g');
    END IF;
    IF plain ~ '[\u0e01-\u0e4f\u3041-\u9fff\uac00-\ud7a3]\d' THEN  -- no spaces before a number: 体重は60キロ
        plain := regexp_replace(plain, '([\u0e01-\u0e4f\u3041-\u9fff\uac00-\ud7a3])(?=\d)', '\1 ', 'g');
    END IF;
    IF plain ~ '\d ?[时時點点시]' THEN
        plain := regexp_replace(plain, '(\d[时時點点시]) ?[半반]', '\130分', 'g');
        plain := regexp_replace(plain, '(\d[點点])[整钟鐘]|(\d[时時시])(?![间間간代刻期]| ?\d)', '\1\200分', 'g');
        plain := regexp_replace(plain, '((?:[上中下]午|午[前後]|早上|凌晨|傍晚|晚上|[今明昨]晚) ?\d{1,2}[點点])(?! ?\d)', '\100分', 'g');
        plain := regexp_replace(plain, '(\d[点點])(?= ?[到至~〜–-] ?\d{1,2}[点點])|([到至~〜–-] ?\d{1,2}[点點])(?! ?\d)', '\1\200分', 'g');
        plain := regexp_replace(plain, '([时時點点시]) ?(\d)[分분]', '\10\2分', 'g');
        plain := regexp_replace(
            plain,
            '(?:上午|午前|早上|凌晨|清晨|오전|아침|새벽) ?(0?\d|1[0-2])[时時點点시] ?(\d\d)(?!\d)[分분]?', ' \1:\2 am ', 'g'
        );
        plain := regexp_replace(
            plain,
            '(?:(?:下午|午後|오후)|(?:晚上|[今明昨]晚|傍晚|夜の?|밤|저녁)(?= ?(?:[5-9]|1[01])\D)) ?(0?\d|1[0-2])[时時點点시] ?(\d\d)(?!\d)[分분]?',
            ' \1:\2 pm ', 'g'
        );
        plain := regexp_replace(plain, '(\d{1,2})[时時點点시] ?(\d\d)(?!\d)[分분]?', ' \1:\2 ', 'g');
    END IF;
    IF plain ~ '\d ?[月월]' THEN
        plain := regexp_replace(plain, '(\d{4})[年년] ?(\d{1,2})[月월] ?(\d{1,2})[日號号일]', ' \1-\2-\3 ', 'g');
        plain := regexp_replace(plain, '(\d{4})[年년] ?(\d)[月월]', ' \1-0\2 ', 'g');
        plain := regexp_replace(plain, '(\d{4})[年년] ?(1[0-2])[月월]', ' \1-\2 ', 'g');
        plain := regexp_replace(plain, '(\d{1,2})[月월] ?(\d{1,2})[日號号일](?![间間])', ' on \2.\1. ', 'g');
    END IF;
    -- No spaces divide numbers, scales and units: 120万円.
    IF plain ~ '\d ?[百千万萬億亿백천만억]' THEN
        plain := regexp_replace(plain, '(\d) ?([百千]?[万萬億亿]|[백천]?[만억]|[百千백천])', '\1 \2 ', 'g');
    END IF;
    RETURN plain;
END
$function$;
