-- The text to embed: title, content and, if the recipe says so, expanded keywords, one per line.
CREATE OR REPLACE FUNCTION _pgrecall.embedding_text(title text, content text, expanded_keywords text[], recipe text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN concat_ws(
    E'\n', title, content,
    CASE WHEN recipe LIKE '%expanded_keywords' AND cardinality(expanded_keywords) > 0
         THEN array_to_string(expanded_keywords, ', ') END
);
