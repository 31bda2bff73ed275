-- The language that a query is expanded in: the likeliest of those it is read in.
CREATE OR REPLACE FUNCTION pgrecall.expansion_language(languages regconfig[], query text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN pgrecall.likeliest_language(languages, pgrecall.separated(pgrecall.spelled(query)))::text;

COMMENT ON FUNCTION pgrecall.expansion_language IS 'The language that a query is expanded in: the likeliest of those it is read in.';
