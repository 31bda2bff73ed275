-- Which parts of a memory make up the text that is embedded. Part of content_hash: a new recipe is a new hash.
CREATE OR REPLACE FUNCTION pgrecall.embedding_recipe()
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE pgrecall.stored_setting('embed_keywords')
    WHEN 'on' THEN 'title, content, expanded_keywords' ELSE 'title, content'
END;

COMMENT ON FUNCTION pgrecall.embedding_recipe IS 'Which parts of a memory make up the text that is embedded.';
