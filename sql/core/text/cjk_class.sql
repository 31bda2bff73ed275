-- Returns the characters of Chinese, Japanese and Korean, for a regular expression's brackets.
--
-- Han, Hiragana, Katakana, Bopomofo and Hangul, with their iteration marks; and the like of them: Yi, Tangut, Khitan, Nüshu.
CREATE OR REPLACE FUNCTION _pgrecall.cjk_class()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e'
    '\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\uac00-\ud7a3\uf900-\ufaff'
    '\U00016fe0-\U000191ff\U0001b000-\U0001b2ff\U00020000-\U0003ffff';
