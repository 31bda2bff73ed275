-- Which parts of a memory make up the text that is embedded. Part of content_hash: a new recipe is a new hash.
--
-- Asked for every memory that is written, so it reads the stored setting alone: by default it is off.
CREATE OR REPLACE FUNCTION _pgrecall.embedding_recipe()
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN EXISTS (SELECT FROM pgrecall.settings s WHERE s.name = 'embed_keywords' AND s.value = 'on')
    THEN 'title, content, expanded_keywords' ELSE 'title, content'
END;

COMMENT ON FUNCTION _pgrecall.embedding_recipe IS 'Which parts of a memory make up the text that is embedded.';
