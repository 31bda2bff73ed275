-- Returns one of the statements that a function runs by EXECUTE, from the function's source.
--
-- number  1 is the first statement
CREATE OR REPLACE FUNCTION _pgrecall.function_statement(function regproc, number integer)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT split_part(p.prosrc, '$statement$', 2 * number) FROM pg_proc p WHERE p.oid = function);

COMMENT ON FUNCTION _pgrecall.function_statement IS
    'Returns one of the statements that a function runs by EXECUTE, from the function''s source.';
