-- Returns a pattern for a value that a question only compares with: more than 50, between 3 and 5, before 14 March.
CREATE OR REPLACE FUNCTION _pgrecall.comparison_pattern()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '[<>≤≥~≈] ?[0-9]'
       '|\m(?:than|over|under|above|below|least|most|between|about|around|roughly|nearly|almost|approximately|before|after|since|until'
       '|als|über|unter|mindestens|höchstens|zwischen|ungefähr|etwa|vor|nach|seit|bis|que|de|entre|environ|avant|après|depuis'
       '|desde|di|tra|circa|prima|dopo|до|после|больше|меньше|между|около)\M[^[:alnum:]]{1,3}[0-9]'
       '|[0-9][^[:space:]]{0,6}(?:以上|以下|以内|左右|之前|之后|より|前|後)';
