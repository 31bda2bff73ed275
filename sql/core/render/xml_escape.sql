-- Escapes a text for an XML element. In an attribute, quotes are to be escaped too.
CREATE OR REPLACE FUNCTION _pgrecall.xml_escape(content text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN replace(replace(replace(content, '&', '&amp;'), '<', '&lt;'), '>', '&gt;');
