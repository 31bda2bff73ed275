-- Returns a regular expression for the parts of an English query that name a time; parse_timeframe() reads them.
--
-- Narrower than date_pattern(): a memory is only indexed by what it seems to mention, but here each match moves results. A
-- weekday needs a preposition, "last" and the like, a part of the day, or the end of the query: "Black Friday", "Saturday
-- Night Live" and "Good Friday" are no times. A month needs a day, a year, "in" or "last": "May" is a name, "march" a verb.
CREATE OR REPLACE FUNCTION _pgrecall.question_time_pattern()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '(?:(?:since|before|until|till) )?\m(?:'
    '\d{4}-\d\d(?:-\d\d)?'
    '|(?:week(?:end)? (?:of|beginning|starting) )?(?:' || _pgrecall.month_pattern() || ' \d{1,2}(?:st|nd|rd|th)?'
        '|\d{1,2}(?:st|nd|rd|th|\.)? (?:of )?' || _pgrecall.month_pattern() || ')(?:,? (?:19|20)\d\d| (?:of )?(?:last|this|next) year)?'
    '|(?<![\d./-])(?:\d{1,2}(?:\.\d{1,2}\.|/\d{1,2}/|-\d{1,2}-)(?:19|20)\d\d'
        '|(?:19|20)\d\d/\d{1,2}/\d{1,2}|\d{1,2}/\d{1,2}/\d\d)(?![./-]?\d)'
    '|(?:on|since) (?!24/7)\d{1,2}(?:/\d{1,2}(?![./]?\d)|\.\d{1,2}(?=\.(?:\D|$)))'
    '|(?:' || _pgrecall.month_pattern() || '|q[1-4]|spring|summer|autumn|fall|winter),? (?:of )?(?:19|20)\d\d'
    '|(?:in|during|last|next|this|since) (?:(?:early|late|mid)[ -])?(?:' || _pgrecall.month_pattern() || '|q[1-4])'
        '(?:,? (?:of )?(?:19|20)\d\d| (?:of )?(?:last|this|next) year)?'
    '|(?:early|mid|late|(?:beginning|start|middle|end) of)[ -]'
        '(?:(?:' || _pgrecall.month_pattern() || '|q[1-4]|spring|summer|autumn|fall|winter),? (?:of )?)?(?:19|20)\d\d'
    '|(?:early|mid|(?:beginning|start|middle|end) of)[ -]' || _pgrecall.month_pattern() || '(?! \d)'
    '|(?:beginning|start|middle|end) of (?:last|this|next) (?:week|month|quarter|year)'
    '|(?:calendar )?week \d{1,2},? (?:of )?(?:19|20)\d\d'
    -- "sort in 2024 rows": the number counts something
    '|(?:in|during|since) (?:19|20)\d\d(?! (?:rows|lines|steps|items|records|entries|files|pages|words|characters|letters|bytes'
        '|bits|pixels|points|tokens|units|pieces|parts|copies|people|users|customers|cases|places|cities|towns|villages'
        '|countries|schools|shops|messages|requests|calls|tests|runs|samples|tables|columns|cells|seconds|minutes|hours'
        '|days|weeks|months|years|dollars|euros|pounds|francs|metres|meters|kilometres|kilometers|miles|feet|grams|litres'
        '|liters|degrees|cores|threads|nodes|servers)\M)'
    '|day (?:before|after) (?:yesterday|tomorrow)'
    '|(?:yesterday|today|tomorrow)(?: (?:morning|afternoon|evening|night))?|tonight'
    '|(?:on|last|this|next|since|this past) (?:mon|tues|wednes|thurs|fri|satur|sun)day(?! night live)'
        '(?: (?:(?:last|next) week|morning|afternoon|evening|night))?'
    '|(?:mon|tues|wednes|thurs|fri|satur|sun)day (?:(?:last|next) week|morning|afternoon|evening)'
    '|(?<!black |good |super |ash |palm |cyber |bloody |easter |holy |before |until |till )'
        '(?:mon|tues|wednes|thurs|fri|satur|sun)day(?=[?.! ]*$)'
    '|(?:week|month|quarter|year|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day) before last'
    '|(?:over|at|on|during) (?:the )?weekend'
    '|(?:last|this|next|past|previous|this past) (?:week|weekend|month|year|quarter|decade'
        '|spring|summer|autumn|fall|winter|christmas)'
    '|(?:last|this) (?:night|morning|afternoon|evening)|(?:at|on|over) christmas'
    '|(?:last|past|next) (?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|few|couple of) (?:hours|days|weeks|months|years)'
    '|in (?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten) (?:days|weeks|months)'
    '|(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|(?:a )?few|several|(?:a )?couple of)'
        ' (?:hour|day|week|weekend|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s? ago'
    ')\M';
