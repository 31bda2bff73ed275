-- Validates the batch size and lease of a claim.
--
-- Errors  22023
CREATE OR REPLACE FUNCTION _pgrecall.check_claim(batch integer, lease interval)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF COALESCE(batch NOT BETWEEN 0 AND 10000, true) THEN
        RAISE EXCEPTION 'a batch cannot be of %', COALESCE(batch::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Claim 0 to 10000 at a time.';
    ELSIF COALESCE(lease NOT BETWEEN interval '0' AND interval '1 day', true) THEN
        RAISE EXCEPTION 'a lease cannot be of %', COALESCE(lease::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Claim for up to a day, and again if it takes longer.';
    END IF;
END
$function$;
