-- Tells whether a text needs a search for secrets: it has a long run of the characters of tokens, a user in a URL, or a word for
-- a password.
--
-- Every write asks it, and almost every text of prose ends here. So each test is cheap: in one regular expression the words would
-- take five times as long, because PostgreSQL builds the states of an expression anew for each text. Each text in which a rule
-- finds something meets it (tests/sql/test_secrets.py).
--
-- content  a text without characters of no width
CREATE OR REPLACE FUNCTION _pgrecall.may_hold_secret(content text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN content COLLATE "C" ~ '(?:\n?[A-Za-z0-9_-]){14}'
    OR content COLLATE "C" ~ '://[^/\s]*@'
    OR lower(content COLLATE "C") LIKE ANY (ARRAY[
        '%passw%', '%passcode%', '%passphrase%', '%pwd%', '%kennwort%', '%contrase%', '%clave%', '%mdp%', '%mot de passe%', '%senha%',
        '%palavra-passe%', '%wachtwoord%', '%hasl%', '%hasł%', '%senord%', '%adgangskode%', '%salasana%', '%heslo%', '%jelsz%',
        '%parola%', '%ifre%', '%ароль%', '%密码%', '%密碼%', '%パスワード%', '%비밀번호%', '%كلمة المرور%', '%סיסמה%', '%mật khẩu%',
        '%पासवर्ड%', '%bearer %', '%curl %', '%wget %'
    ]);
