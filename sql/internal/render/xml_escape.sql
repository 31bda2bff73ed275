-- Escapes a text for an XML element or attribute.
CREATE OR REPLACE FUNCTION _pgrecall.xml_escape(content text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN replace(replace(replace(replace(replace(
    content, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&apos;');

COMMENT ON FUNCTION _pgrecall.xml_escape IS 'Escapes a text for an XML element or attribute.';
