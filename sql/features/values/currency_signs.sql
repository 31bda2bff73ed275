-- Returns the signs, codes and short names of currencies, which may stand before an amount: $, usd, rs. Others may not: "dollars 5".
CREATE OR REPLACE FUNCTION _pgrecall.currency_signs()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT array_agg(u.name)
    FROM jsonb_each(_pgrecall.unit_names()) u (name, unit)
    WHERE (u.unit ->> 0 ~ '^[A-Z]{3}$' AND u.name = lower(u.unit ->> 0)) OR u.name ~ '^[^[:alnum:]]$|^dollar_'
       OR u.name IN ('rs', 'rp', 'rm', 'kr');
END;
