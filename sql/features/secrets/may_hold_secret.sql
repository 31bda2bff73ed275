-- Tells whether a text needs a search for secrets: it has a long run of the characters of tokens, a user in a URL, or a word for
-- a password.
--
-- Every write asks it, and almost every text of prose ends here. So each test is cheap. A regular expression of all words costs as
-- much for ten characters as for 300, because PostgreSQL builds its states anew for each text; the time of LIKE grows with the text
-- and the words. So a short text is searched by LIKE, and a long one by the expression, for the same words. Each text in which a
-- rule finds something meets it (tests/sql/test_secret_rules.py).
--
-- content  a text without characters of no width
CREATE OR REPLACE FUNCTION _pgrecall.may_hold_secret(content text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN content COLLATE "C" ~ '(?:\n?[A-Za-z0-9_-]){14}'
    OR content COLLATE "C" ~ '://[^/\s]*@'
    OR CASE WHEN octet_length(content) < 600 THEN
        lower(content COLLATE "C") LIKE ANY (ARRAY[
            '%kennwort%', '%contrase%', '%clave%', '%mdp%', '%senha%', '%wachtwoord%', '%hasl%', '%senord%', '%adgangskode%', '%salasana%',
            '%heslo%', '%jelsz%', '%parola%', '%ifre%', '%bearer %', '%identified by%', '%sig=%'
        ])
        -- What the words of each of these have in common is looked for first.
        OR lower(content COLLATE "C") LIKE ANY (ARRAY['%pass%', '%pw%', '% -%', '% phrase%'])
           AND lower(content COLLATE "C") LIKE ANY (ARRAY[
               '%passw%', '%passcode%', '%passphrase%', '%passord%', '%mot de passe%', '%palavra-passe%', '%pass:%', '%pass"%', '%pass''%',
               '%pass=%', '%pass =%', '%pass\_%', '%sshpass %', '%pwd%', '%pw:%', '%pw=%', '%pw %', '%seed phrase%', '%recovery phrase%',
               '%curl %', '%wget %', '%mysql%', '%mariadb%', '%docker login%', '%redis-cli%', '% --pass%', '% --token %', '% --secret %'
           ])
        -- Most texts have no other letters than ASCII, and others not those of Asia.
        OR octet_length(content) > char_length(content) AND (
            lower(content COLLATE "C") LIKE ANY (ARRAY[
                '%hasł%', '%hasŁ%', '%İfre%', U&'%i\0307fre%', '%ароль%', '%АРОЛЬ%', '%كلمة المرور%', '%סיסמה%',
                U&'%ma\0323\0302t kha\0302\0309u%'
            ])
            OR content COLLATE "C" ~ '[\u0900-\u1FFF\u3040-\uFFFF]' AND lower(content COLLATE "C") LIKE ANY (ARRAY[
                '%密码%', '%密碼%', '%口令%', '%パスワード%', '%ワート%', '%비밀번호%', U&'%\1107\1175\1106\1175\11AF\1107\1165\11AB\1112\1169%',
                '%mật khẩu%', '%mẬt khẨu%', '%पासवर्ड%', '%ｐａｓｓｗｏｒｄ%', '%Ｐａｓｓｗｏｒｄ%', '%ＰＡＳＳＷＯＲＤ%'
            ])
        )
    ELSE lower(content COLLATE "C") ~ (
        'kennwort|contrase|clave|mdp|senha|wachtwoord|hasl|senord|adgangskode|salasana|heslo|jelsz|parola|ifre|bearer |identified by|sig='
        '|pass(?:w|code|phrase|ord|[:"''=_]| =)|mot de passe|palavra-passe|sshpass |pw[d:= ]|(?:seed|recovery) phrase|curl |wget |mysql'
        '|mariadb|docker login|redis-cli| --(?:pass|token |secret )|has[łŁ]|İfre|i\u0307fre|ароль|АРОЛЬ|كلمة المرور|סיסמה'
        '|ma\u0323\u0302t kha\u0302\u0309u|密码|密碼|口令|パスワード|ワート|비밀번호|\u1107\u1175\u1106\u1175\u11AF\u1107\u1165\u11AB\u1112\u1169'
        '|m[ậẬ]t kh[ẩẨ]u|पासवर्ड|[ｐＰ]ａｓｓｗｏｒｄ|ＰＡＳＳＷＯＲＤ'
    ) END;
