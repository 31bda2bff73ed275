-- Returns a text as one line of visible characters, without hidden text, terminal control or look-alike markup.
--
-- Look-alikes of < > & " ' / are replaced by those characters, which xml_escape() then escapes: a later NFKC would turn
-- them into markup. Characters that nobody sees are removed: those that Unicode calls ignorable (zero-width characters,
-- directions and their overrides, soft hyphens, variation selectors, tags), format controls of hieroglyphs and notes, the
-- blank of braille, and private characters, which show something else to everybody. That splits emoji joined by zero-width
-- joiners, and changes no letter. `sanitize_line` of pgrecall.formatting does the same for terminals and agents. Runs of
-- spaces, line ends and control characters become one space. Combining marks at the beginning are
-- removed, because they would combine with the text before the line.
CREATE OR REPLACE FUNCTION _pgrecall.sanitize_line(content text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN regexp_replace(
    btrim(regexp_replace(
        regexp_replace(
            translate(
                content,
                U&'\FF1C\FE64\2039\2329\3008\27E8\276C\276E\2770\02C2'
                '\FF1E\FE65\203A\232A\3009\27E9\276D\276F\2771\02C3\FF06\FE60\FF02\FF07\FF0F',
                '<<<<<<<<<<>>>>>>>>>>&&"''/'
            ),
            '[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164'
            '\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U00013430-\U00013455\U00016fe4'
            '\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U0010ffff]+',
            '', 'g'
        ),
        '[\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g'
    )),
    '^[ ' || _pgrecall.combining_marks() || ']+', ''
);
