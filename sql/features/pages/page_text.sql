-- Returns what a page quotes of a memory, as one line without markup: the statement, if the memory says it, otherwise the
-- memory with its speaker and title. At most 200 characters.
--
-- Reads the first 20,000 characters. A statement in other words than the memory's is not quoted: the names in it may come from
-- another memory.
--
-- statement  a sentence that was extracted from the memory; NULL: none
CREATE OR REPLACE FUNCTION _pgrecall.page_text(speaker text, title text, content text, statement text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT _pgrecall.truncate_words(
        CASE WHEN s.said <> '' AND strpos(s.content, s.said) > 0 THEN concat_ws(': ', NULLIF(s.speaker, ''), s.said)
             ELSE concat_ws(': ', NULLIF(s.speaker, ''), NULLIF(s.title, ''), s.content) END, 200
    )
    FROM (
        SELECT _pgrecall.truncate_words(_pgrecall.sanitize_line(page_text.speaker), 60) AS speaker,
               _pgrecall.sanitize_line(page_text.title) AS title, _pgrecall.sanitize_line(left(page_text.content, 20000)) AS content,
               _pgrecall.sanitize_line(page_text.statement) AS said
    ) s
    WHERE s.content <> ''
);
