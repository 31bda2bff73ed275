-- Returns the keys of a normalised name: hashes of its folded forms, also in the singular and each with one letter left out.
--
-- Two names that differ by at most one edit, doubled letters apart, share a key: of a name without its nth letter, for short
-- names; of one half and the length, for names of 20 letters and more. Names below five letters have folded forms only.
CREATE OR REPLACE FUNCTION _pgrecall.name_keys(alias text)
RETURNS integer[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
BEGIN ATOMIC
    WITH form AS (
        SELECT DISTINCT f.form, regexp_replace(f.form, '(.)\1', '\1', 'g') AS squeezed
        FROM (
            SELECT _pgrecall.folded_name(alias) AS form
            UNION ALL SELECT _pgrecall.folded_name(alias, true)
            UNION ALL SELECT _pgrecall.folded_name(_pgrecall.singular_name(alias))
        ) f
    ), spelling (text) AS (
        SELECT form FROM form
        UNION
        SELECT squeezed FROM form
        UNION
        SELECT overlay(f.squeezed PLACING '' FROM n.place FOR 1)
        FROM form f CROSS JOIN generate_series(1, length(f.squeezed)) n (place)
        WHERE length(f.squeezed) BETWEEN 5 AND 20
        UNION
        SELECT part.text
        FROM form f
        CROSS JOIN generate_series(length(f.squeezed), length(f.squeezed) + 1) n (size)
        CROSS JOIN LATERAL (VALUES
            (n.size || '<' || left(f.squeezed, n.size / 2)), (n.size || '>' || right(f.squeezed, (n.size - 1) / 2))
        ) part (text)
        WHERE length(f.squeezed) BETWEEN 19 AND 200
    )
    SELECT array_agg(DISTINCT ('x' || left(md5(s.text), 8))::bit(32)::integer) FROM spelling s;
END;
