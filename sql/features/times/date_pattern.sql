-- Returns a regular expression for the parts of a text that may name a time; parse_timeframe() decides which ones do.
--
-- Excludes words that often mean something else: a bare "may" or "second", a bare number of four digits.
CREATE OR REPLACE FUNCTION _pgrecall.date_pattern()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '\m(?:'
    '\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?)?'
    '|(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,? )?(?:'
        || _pgrecall.month_pattern() || ' \d{1,2}(?:st|nd|rd|th)?'
        '|\d{1,2}(?:st|nd|rd|th)? (?:of )?' || _pgrecall.month_pattern() || ')(?:,? \d{4})?'
    '|(?:' || _pgrecall.month_pattern() || '|q[1-4]|spring|summer|autumn|fall|winter),? (?:of )?\d{4}'
    '|(?:in|during|last|next) ' || _pgrecall.month_pattern() || '(?:,? (?:of )?\d{4})?'
    '|(?:in|during) (?:19|20)\d\d|(?:19|20)\d0s'
    '|(?:day (?:before|after) )?(?:yesterday|today|tomorrow)(?: (?:morning|afternoon|evening|night))?|tonight'
    '|(?:(?:last|this|next) )?(?:mon|tues|wednes|thurs|fri|satur|sun)day(?: (?:(?:last|next) week|morning|afternoon|evening|night))?'
    '|(?:last|this|next|past|previous) (?:week|weekend|month|year|quarter|decade|spring|summer|autumn|fall|winter)'
    '|(?:last|this) (?:night|morning|afternoon|evening)'
    '|(?:last|past|next|in) (?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|a few|couple of) (?:days|weeks|months|years)'
    '|(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|few|several|couple of) (?:hour|day|week|month|year)s? ago'
    ')\M';
