-- Tells whether a text shows nothing: it is NULL or empty, or has only spaces, control characters and characters that draw nothing.
--
-- Beside what [[:space:]] and [[:cntrl:]] know: spaces of every width, soft hyphens, joiners, marks of direction, fillers of Hangul,
-- selectors of variants, tags, and the byte order mark.
CREATE OR REPLACE FUNCTION _pgrecall.is_blank(content text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN COALESCE(content, '') !~ (
    '[^[:space:][:cntrl:]\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f'
    || '\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]'
);
