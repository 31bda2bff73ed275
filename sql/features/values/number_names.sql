-- Returns the other notations of small numbers: the ordinal as a word, the cardinal as a word, the roman number.
CREATE OR REPLACE FUNCTION _pgrecall.number_names()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{
    "1": ["first", "one", "i"], "2": ["second", "two", "ii"], "3": ["third", "three", "iii"], "4": ["fourth", "four", "iv"],
    "5": ["fifth", "five", "v"], "6": ["sixth", "six", "vi"], "7": ["seventh", "seven", "vii"],
    "8": ["eighth", "eight", "viii"], "9": ["ninth", "nine", "ix"], "10": ["tenth", "ten", "x"],
    "11": ["eleventh", "eleven", "xi"], "12": ["twelfth", "twelve", "xii"], "13": ["thirteenth", "thirteen", "xiii"],
    "14": ["fourteenth", "fourteen", "xiv"], "15": ["fifteenth", "fifteen", "xv"], "16": ["sixteenth", "sixteen", "xvi"],
    "17": ["seventeenth", "seventeen", "xvii"], "18": ["eighteenth", "eighteen", "xviii"],
    "19": ["nineteenth", "nineteen", "xix"], "20": ["twentieth", "twenty", "xx"]
}'::jsonb;
