-- Tells whether a text does nothing but ask: it ends with a question mark and states nothing before. A greeting may precede.
CREATE OR REPLACE FUNCTION _pgrecall.is_question(content text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN content ~ '[?？؟;՞]["''”’»)\s]*$'
   AND regexp_replace(left(content, 1000), '^\s*\S+[!,.。！，]\s*', '') !~ '[.!…](\s|$)|[。！]';
