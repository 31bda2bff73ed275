-- Raises an error: a SECURITY DEFINER function belongs to another role than pgrecall_gate or pgrecall_engine.
--
-- The installer puts a call of it at the beginning of every such function. A restore without owners makes the restoring
-- role the owner, which policies do not bind; its functions then refuse everybody until the next migration.
--
-- Errors  55000
CREATE OR REPLACE FUNCTION _pgrecall.refuse_other_owner()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RAISE EXCEPTION 'the functions of pgrecall belong to role "%" instead of pgrecall_gate and pgrecall_engine', current_user
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'Run pgrecall migrate as the owner of the schema: it gives them back after a restore.';
END
$function$;
