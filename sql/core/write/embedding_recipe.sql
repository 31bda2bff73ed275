-- The parts of a memory that make up the embedded text.
--
-- The recipe is part of content_hash, so another recipe changes the hash. This runs for every write, so it reads only the
-- stored setting, which is off by default.
CREATE OR REPLACE FUNCTION _pgrecall.embedding_recipe()
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN EXISTS (SELECT FROM pgrecall.settings s WHERE s.name = 'embed_keywords' AND s.value = 'on')
    THEN 'title, content, expanded_keywords' ELSE 'title, content'
END;
