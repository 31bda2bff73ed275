-- Tells whether a query is literal: a quotation, an identifier, a version, a path or an address.
--
-- Doubtful cases are not literal. A number such as 3.5 is a version only at the end of a query or after that word. A
-- slash makes a path only at the beginning of a word or before a file name with an extension. Names such as iPhone or
-- McDonald are not identifiers.
CREATE OR REPLACE FUNCTION pgrecall.is_exact_query(query text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN
    -- "a quotation"
    query ~ '["“„«][^"“”„«»]+["”“»]'
    -- 2.0.1-rc1, but not a date (12.05.2024) or thousands (1.500.000); v1.2, version 17.2; 17.2 at the end
    OR query ~ ('(^|[\s(])(?!([0-3]?[0-9]\.[01]?[0-9]\.(19|20)[0-9]{2}|[0-9]{1,3}(\.[0-9]{3})+)(?![.0-9]*[0-9]))'
                'v?[0-9]+(\.[0-9]+){2,}(-?[a-z][a-z0-9.-]*)?([\s,;:!?).]|$)')
    OR query ~ '(^|[\s(])v[0-9]+\.[0-9]|(version|release) [0-9]+\.[0-9]'
    OR query ~ '(^|[\s(])[0-9]+\.[0-9]+(-?(a|b|rc|alpha|beta)[0-9]+)?[,;:!?).]*\s*$'
    -- snake_case, __dunder__, a::b, f()
    OR query ~ '[[:alnum:]]_[[:alnum:]]|__[[:alnum:]]|[[:alnum:]]::[[:alnum:]]|[[:alnum:]]\(\)'
    -- getName, XMLHttpRequest, LexicalQueryReader
    OR query ~ '\m[a-z]{2,}[A-Z][a-z]|\m[A-Z]{2,}[a-z]+[A-Z][a-z]|\m([A-Z][a-z]+){3,}'
    -- /a/path, ~/path, ../path, a/file.name, a\path
    OR query ~ '(^|[\s(])(~|\.{1,2})?/[[:alnum:]_.]|[[:alnum:]_-]/[[:alnum:]_./-]*\.[[:alpha:]]|[[:alnum:]]\\[[:alnum:]]'
    -- AB-12, #12, @name, a URL
    OR query ~ '(^|[\s(])[A-Z][A-Z0-9]+-[0-9]|#[0-9]|@[[:alnum:]]|://';

GRANT EXECUTE ON FUNCTION pgrecall.is_exact_query TO pgrecall_reader, pgrecall_embedder;
