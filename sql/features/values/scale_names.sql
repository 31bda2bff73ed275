-- Returns the words that multiply the number before them, without accents, each with its factor: thousand, tsd, lakh, 万.
--
-- A scale or a language is added here; no code names one. Asian languages write no space after a number (spell_values).
CREATE OR REPLACE FUNCTION _pgrecall.scale_names()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{
    "hundred": 1e2, "百": 1e2, "백": 1e2, "ร้อย": 1e2,
    "k": 1e3, "thousand": 1e3, "tsd": 1e3, "tausend": 1e3, "mille": 1e3, "mil": 1e3, "mila": 1e3, "duizend": 1e3, "tusen": 1e3,
    "tusind": 1e3, "tuhat": 1e3, "tuhatta": 1e3, "tys": 1e3, "tysiac": 1e3, "tysiace": 1e3, "tysiecy": 1e3, "tis": 1e3, "tisic": 1e3,
    "tisice": 1e3, "ezer": 1e3, "mii": 1e3, "bin": 1e3, "ribu": 1e3, "rb": 1e3, "nghin": 1e3, "ngan": 1e3, "тыс": 1e3, "тысяч": 1e3,
    "тысячи": 1e3, "тысяча": 1e3, "тис": 1e3, "тисяч": 1e3, "тисячі": 1e3, "хиляди": 1e3, "χιλιαδεσ": 1e3, "χιλ": 1e3, "الف": 1e3,
    "الاف": 1e3, "هزار": 1e3, "אלף": 1e3, "हजार": 1e3, "พัน": 1e3, "千": 1e3, "천": 1e3,
    "万": 1e4, "萬": 1e4, "만": 1e4, "หมื่น": 1e4, "lakh": 1e5, "lakhs": 1e5, "lac": 1e5, "लाख": 1e5, "แสน": 1e5,
    "m": 1e6, "mio": 1e6, "mln": 1e6, "million": 1e6, "millions": 1e6, "millionen": 1e6, "millon": 1e6, "millones": 1e6, "milhao": 1e6,
    "milhoes": 1e6, "milione": 1e6, "milioni": 1e6, "miljoen": 1e6, "miljon": 1e6, "miljoner": 1e6, "millioner": 1e6, "miljoona": 1e6,
    "miljoonaa": 1e6, "milion": 1e6, "miliony": 1e6, "miliona": 1e6,
    "milionow": 1e6, "milionu": 1e6, "millio": 1e6, "milioane": 1e6, "milyon": 1e6,
    "juta": 1e6, "jt": 1e6, "trieu": 1e6, "млн": 1e6, "миллион": 1e6, "миллиона": 1e6, "миллионов": 1e6, "мільйон": 1e6,
    "мільйони": 1e6, "мільйонів": 1e6, "милиона": 1e6, "εκατομμυρια": 1e6, "εκατομμυριο": 1e6, "εκατ": 1e6, "مليون": 1e6, "ملايين": 1e6,
    "ميليون": 1e6, "מיליון": 1e6, "ล้าน": 1e6, "百万": 1e6, "百萬": 1e6, "백만": 1e6,
    "crore": 1e7, "crores": 1e7, "करोड": 1e7, "千万": 1e7, "千萬": 1e7, "천만": 1e7, "億": 1e8, "亿": 1e8, "억": 1e8,
    "bn": 1e9, "mrd": 1e9, "billion": 1e9, "milliarden": 1e9, "milliard": 1e9, "milliards": 1e9, "miliardi": 1e9, "miljard": 1e9,
    "miliard": 1e9, "miliardow": 1e9, "milyar": 1e9, "miliar": 1e9, "млрд": 1e9, "миллиард": 1e9, "миллиардов": 1e9, "مليار": 1e9
}'::jsonb;
