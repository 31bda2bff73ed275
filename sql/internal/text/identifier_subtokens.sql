-- The other words an identifier is found by, beside those that separated() makes of it.
--
--   snake_case, e-mail, AT&T     the whole, without signs: snakecase, email, ATT
--   /usr/local/foo.py            the whole, and every part that has signs of its own: usrlocalfoopy foopy
--   getUserName, HTTPServer      its parts: get User Name, HTTP Server
--   17.2, 1.2.3                  the whole, as it is; of python3.11 the number
--   1,000,000                    the whole, without commas
--
-- A whole without signs has the same form however it is written: snakeCase and SNAKE_CASE too end up as snakecase.
-- One expression of immutable functions, so that the planner writes it into the query: concat_ws would not do.
CREATE OR REPLACE FUNCTION _pgrecall.identifier_subtokens(identifier text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN identifier !~ '[^0-9.]' THEN identifier
    WHEN identifier !~ '[^0-9.,]' THEN
        CASE WHEN identifier ~ '^[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$' THEN replace(identifier, ',', '') ELSE '' END
    ELSE
        CASE WHEN identifier ~ '[-_.,&/\\:@]' THEN translate(identifier, '-_.,&/\:@', '') ELSE '' END
        || CASE WHEN identifier ~ '[/\\:@].*[-_.&]|[-_.&].*[/\\:@]' THEN translate(
            regexp_replace(' ' || translate(identifier, '/\:@', '    '), ' [^-_.& ]+(?= |$)', '', 'g'), '-_.&', ''
        ) ELSE '' END
        || CASE WHEN identifier ~ '[a-z][0-9]*[A-Z]|[A-Z]{2}[a-z]{2}' THEN translate(
            -- A bar where two parts meet; what has none has no parts.
            regexp_replace(
                regexp_replace(
                    ' ' || translate(identifier, '-_.,&/\:@', '         '),
                    '(?<=[a-z0-9])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z]{2})', '|\&', 'g'
                ),
                ' [^| ]+(?= |$)', '', 'g'
            ), '|', ' '
        ) ELSE '' END
        || CASE
            WHEN strpos(identifier, '.') > 0 AND identifier ~ '[0-9]\.[0-9]'
            THEN COALESCE(' ' || substring(identifier, '(?<![0-9.])[0-9]+(?:\.[0-9]+)+'), '')
            ELSE ''
        END
END;

COMMENT ON FUNCTION _pgrecall.identifier_subtokens IS
    'The other words an identifier is found by: the whole of snake_case, the parts of camelCase, a version''s number.';
