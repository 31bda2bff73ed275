-- One line of a briefing: an XML element with a date and a speaker, and a text that can be nothing but text.
--
-- NULL if no character of the content can be seen. A speaker's name is cut after 60 characters.
--
-- element   its name
-- moment    its day is the date, in the session's time zone; NULL: no date
-- speaker   NULL or nothing to be seen: none
-- per_item  characters of the content before it is escaped
CREATE OR REPLACE FUNCTION _pgrecall.briefing_item(
    element text, moment timestamptz, speaker text, content text, per_item integer
)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT format(
        '<%1$s%2$s%3$s>%4$s</%1$s>', element,
        ' date="' || to_char(moment, 'YYYY-MM-DD') || '"',
        ' speaker="' || _pgrecall.xml_escape(NULLIF(seen.speaker, '')) || '"',
        _pgrecall.xml_escape(seen.content)
    )
    FROM (
        SELECT _pgrecall.truncate_words(_pgrecall.sanitize_line(briefing_item.speaker), 60) AS speaker,
               _pgrecall.truncate_words(_pgrecall.sanitize_line(briefing_item.content), per_item) AS content
    ) seen
    WHERE seen.content <> ''
);

COMMENT ON FUNCTION _pgrecall.briefing_item IS
    'One line of a briefing: an XML element with a date and a speaker, and a text that can be nothing but text.';
