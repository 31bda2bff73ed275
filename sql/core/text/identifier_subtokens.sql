-- Returns the additional tokens of an identifier, besides those that pretokenize() makes of it: snake_case as a whole, the
-- parts of camelCase, a version's number.
--
--   snake_case, e-mail, AT&T     the whole, without signs: snakecase, email, ATT
--   /usr/local/foo.py            the whole, and every part that has signs of its own: usrlocalfoopy foopy
--   getUserName, HTTPServer      its parts: get User Name, HTTP Server
--   17.2, 1.2.3                  the whole, unchanged; of python3.11 the number
--   1,000,000                    the whole, without commas
--
-- A whole without signs is the same for every spelling: snakeCase and SNAKE_CASE also become snakecase. A single
-- expression of immutable functions, so that the planner inlines it; concat_ws would prevent that.
CREATE OR REPLACE FUNCTION _pgrecall.identifier_subtokens(identifier text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN ltrim(identifier, '0123456789.') = '' THEN identifier
    WHEN ltrim(identifier, '0123456789.,') = '' THEN
        CASE WHEN identifier ~ '^[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$' THEN replace(identifier, ',', '') ELSE '' END
    ELSE
        COALESCE(NULLIF(translate(identifier, '-_.,&/\:@', ''), identifier), '')
        || CASE WHEN translate(identifier, '/\:@', '') <> identifier AND translate(identifier, '-_.&', '') <> identifier THEN translate(
            regexp_replace(' ' || translate(identifier, '/\:@', '    '), ' [^-_.& ]+(?= |$)', '', 'g'), '-_.&', ''
        ) ELSE '' END
        || CASE WHEN lower(identifier) <> identifier AND identifier ~ '[a-z][0-9]*[A-Z]|[A-Z]{2}[a-z]{2}' THEN translate(
            -- Put a bar between two parts, and drop tokens without a bar.
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
