-- Writes the digits of other scripts as 0 to 9, and the signs within such numbers as the Latin ones: ٤٧١٢ becomes 4712.
--
-- Arabic, Persian, Devanagari, Bengali, Gurmukhi, Gujarati, Odia, Tamil, Telugu, Kannada, Malayalam, Thai, Lao, Tibetan, Burmese, Khmer and
-- full-width.
-- translate() compares each letter with all of them, so a text without any is returned first.
CREATE OR REPLACE FUNCTION _pgrecall.fold_digits(content text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN octet_length(content) = length(content)
         OR content !~ ('[\u066a-\u066c\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\u0a66-\u0a6f\u0ae6-\u0aef'
                        '\u0b66-\u0b6f\u0be6-\u0bef\u0c66-\u0c6f\u0ce6-\u0cef\u0d66-\u0d6f\u0e50-\u0e59\u0ed0-\u0ed9'
                        '\u0f20-\u0f29\u1040-\u1049\u17e0-\u17e9\uff05\uff0b-\uff19\uff1a]')
        THEN content
    ELSE translate(
        content,
        '٪٫٬％．，：－／＋'
        '٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹०१२३४५६७८९০১২৩৪৫৬৭৮৯'
        '੦੧੨੩੪੫੬੭੮੯૦૧૨૩૪૫૬૭૮૯୦୧୨୩୪୫୬୭୮୯௦௧௨௩௪௫௬௭௮௯'
        '౦౧౨౩౪౫౬౭౮౯೦೧೨೩೪೫೬೭೮೯൦൧൨൩൪൫൬൭൮൯๐๑๒๓๔๕๖๗๘๙'
        '໐໑໒໓໔໕໖໗໘໙༠༡༢༣༤༥༦༧༨༩၀၁၂၃၄၅၆၇၈၉០១២៣៤៥៦៧៨៩０１２３４５６７８９',
        '%.,%.,:-/+' || repeat('0123456789', 17)
    )
END;
