-- Returns a regular expression for the parts of an English query that name a time by its two ends: days, months, quarters or years.
CREATE OR REPLACE FUNCTION _pgrecall.question_span_pattern()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT '\m(?:between|from) ' || e.pattern || ' (?:and|to|until|till|through) ' || e.pattern || '\M'
    FROM (SELECT '(?:(?:early|mid|late)[ -])?'
                 '(?:(?:\d{1,2}(?:st|nd|rd|th)? )?' || _pgrecall.month_pattern() || '(?: \d{1,2}(?:st|nd|rd|th)?)?'
                 '(?:,? (?:19|20)\d\d)?|q[1-4](?: (?:19|20)\d\d)?|(?:19|20)\d\d)') e (pattern);
END;
