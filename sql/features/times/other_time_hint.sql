-- Returns a prefilter for time_phrases(): it matches every query in which one of them matches.
CREATE OR REPLACE FUNCTION _pgrecall.other_time_hint()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 'gestern|letzte|vorige|vergangene|diese|vor |am |im |\d\. |ayer|antier|hace |pasad[oa]|hier|derni|pass[eé]|il y a'
       '|вчера|прошл|昨|前天|上周|上星期|上個|上个|去年';
