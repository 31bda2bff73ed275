-- A text as XML has it, in an element or in an attribute.
CREATE OR REPLACE FUNCTION pgrecall.escaped(content text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN replace(replace(replace(replace(replace(
    content, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&apos;');

COMMENT ON FUNCTION pgrecall.escaped IS 'A text as XML has it, in an element or in an attribute.';
