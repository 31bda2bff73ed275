-- Returns a regular expression for the months of a language and a year beside them, for time_phrases(): the month is its first group,
-- the year its second.
CREATE OR REPLACE FUNCTION _pgrecall.translated_months(language text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '(' || CASE language
    WHEN 'de' THEN 'januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember'
    WHEN 'es' THEN 'enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre'
    WHEN 'fr' THEN 'janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre'
    WHEN 'ru' THEN 'январ[ея]|феврал[ея]|март[еа]|апрел[ея]|мае|мая|июн[ея]|июл[ея]|август[еа]|сентябр[ея]|октябр[ея]|ноябр[ея]|декабр[ея]'
END || ')(?:(?: del?)? ((?:19|20)\d\d))?\M';
