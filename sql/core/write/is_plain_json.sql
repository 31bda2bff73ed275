-- Tells whether every reader can read a JSON value: at most 64 levels, and numbers that a double has. NULL returns NULL.
--
-- The constraint memories_metadata_plain has the same test.
CREATE OR REPLACE FUNCTION _pgrecall.is_plain_json(value jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN NOT jsonb_path_exists(value, '$.**{65}')
   AND NOT jsonb_path_exists(
       value, 'strict $.** ? (@.type() == "number" && (@ > 1.8e308 || @ < -1.8e308 || (@ != 0 && @ > -4e-324 && @ < 4e-324)))'
   );
