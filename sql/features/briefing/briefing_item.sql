-- Returns one line of a briefing: an XML element with date, time, speaker, origin and text. The text cannot contain markup.
--
-- NULL if the content has no visible character. A speaker's name is cut after 60 characters.
--
-- element   the element's name
-- moment    its day in the session's time zone becomes the date; NULL: no date
-- speaker   NULL or without a visible character: no speaker
-- per_item  maximum characters of the content, before escaping
-- origin    told unless it is user
-- has_time  whether to tell the time of day too
CREATE OR REPLACE FUNCTION _pgrecall.briefing_item(
    element text, moment timestamptz, speaker text, content text, per_item integer, origin pgrecall.memory_origin,
    has_time boolean DEFAULT false
)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT format(
        '<%1$s%2$s%3$s%5$s>%4$s</%1$s>', element,
        ' date="' || to_char(moment, 'YYYY-MM-DD') || '"'
            || CASE WHEN has_time THEN ' time="' || to_char(moment, 'HH24:MI') || '"' ELSE '' END,
        ' speaker="' || replace(_pgrecall.xml_escape(NULLIF(seen.speaker, '')), '"', '&quot;') || '"',
        _pgrecall.xml_escape(seen.content),
        ' origin="' || NULLIF(briefing_item.origin, 'user') || '"'
    )
    FROM (
        SELECT _pgrecall.truncate_words(_pgrecall.sanitize_line(briefing_item.speaker), 60) AS speaker,
               _pgrecall.truncate_words(_pgrecall.sanitize_line(briefing_item.content), per_item) AS content
    ) seen
    WHERE seen.content <> ''
);
