-- Returns the signs and codes of currencies, which may stand before an amount: $, usd. Names may not: "dollars 5".
CREATE OR REPLACE FUNCTION _pgrecall.currency_signs()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT array_agg(u.name)
    FROM jsonb_each(_pgrecall.unit_names()) u (name, unit)
    WHERE (u.unit ->> 0 ~ '^[A-Z]{3}$' AND u.name = lower(u.unit ->> 0)) OR u.name ~ '^[^[:alnum:]]$|^dollar_';
END;
