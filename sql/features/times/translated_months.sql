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
    WHEN 'it' THEN 'gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre'
    WHEN 'pt' THEN 'janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro'
    WHEN 'nl' THEN 'januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december'
    WHEN 'pl' THEN 'stycznia|styczniu|lutego|lutym|marca|marcu|kwietnia|kwietniu|maja|maju|czerwca|czerwcu|lipca|lipcu|sierpnia|sierpniu'
        '|września|wrześniu|października|październiku|listopada|listopadzie|grudnia|grudniu'
    -- Thai (also abbreviated), Arabic, Hindi; a year of Thai is Buddhist
    WHEN 'asia' THEN 'มกราคม|กุมภาพันธ์|มีนาคม|เมษายน|พฤษภาคม|มิถุนายน|กรกฎาคม|สิงหาคม|กันยายน|ตุลาคม|พฤศจิกายน|ธันวาคม'
        '|ม\.ค\.|ก\.พ\.|มี\.ค\.|เม\.ย\.|พ\.ค\.|มิ\.ย\.|ก\.ค\.|ส\.ค\.|ก\.ย\.|ต\.ค\.|พ\.ย\.|ธ\.ค\.'
        '|يناير|فبراير|مارس|[اأ]بريل|مايو|يونيو|يوليو|[اأ]غسطس|سبتمبر|[اأ]كتوبر|نوفمبر|ديسمبر'
        '|जनवरी|फरवरी|फ़रवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|सितम्बर|अक्टूबर|नवंबर|नवम्बर|दिसंबर|दिसम्बर'
END || ')' || CASE language
    WHEN 'asia' THEN '(?: ?(?:[พค]\.ศ\.)?,? ?((?:19|20|2[4-6])\d\d))?(?![\d\u0620-\u0669\u0900-\u097f])'
    ELSE '(?:(?: del?)? ((?:19|20)\d\d))?\M'
END;
