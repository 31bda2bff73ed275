-- The rules by which texts are scanned for secrets: kinds, words without one of which a rule finds nothing, and patterns.
--
-- The one declaration of what counts as a secret: tokens of known formats, and what follows a word such as password. A rule of
-- entropy is not among them, because it would find hashes and ids (docs/adr/0037-secrets.md). A pattern has one group that
-- captures: what stands before the secret and is kept. A token of fixed length may be wrapped over lines. No pattern has a back
-- reference, and each takes time in proportion to the text (tests/attack/test_attack_secrets.py).
--
-- kind     what was found: in the marker and in the counts
-- hints    in small letters; a text with none of them is not searched. may_hold_secret() has them all
-- pattern  an advanced regular expression; (?i) where case does not matter
CREATE OR REPLACE FUNCTION _pgrecall.secret_rules()
RETURNS TABLE (kind text, hints text[], pattern text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 40
BEGIN ATOMIC
    SELECT r.kind, r.hints, r.pattern
    FROM (SELECT
        -- Words for a password, in the languages that people write to assistants, with their endings. Accents may stand apart, and
        -- neither (?i) nor \m knows other letters than ASCII in every database: capitals stand here.
        '(?:(?:passwor[dt]|passwd|passphrase|passcode|pwd|kennwort|contrase(?:[ñÑ]|n\u0303?)a|\mclave|mot de passe|\mmdp\M|senha'
        '|palavra-passe|wachtwoord|has[lłŁ]o|l(?:[öÖ]|o\u0308?)senord|adgangskode|passord|salasana|\mheslo|jelsz(?:[óÓ]|o\u0301?|av)'
        '|\mparola|(?:[şŞ]|\ms\u0327?)(?:i|İ|i\u0307)fre|[Пп]ароль|ПАРОЛЬ|كلمة المرور|סיסמה'
        '|m(?:[ậẬ]|a\u0323\u0302)t kh(?:[ẩẨ]|a\u0302\u0309)u|पासवर्ड)[a-zа-яё]{0,3}(?:[_-]?[0-9]{1,2}'
        '|[_-](?:prod|production|dev|test|staging|stage|live|local|root|admin|user|main|old|new|default))?)' AS password,
        ARRAY['passwor', 'passwd', 'passphrase', 'passcode', 'pwd', 'kennwort', 'contrase', 'clave', 'mot de passe', 'mdp', 'senha',
              'palavra-passe', 'wachtwoord', 'hasl', 'hasł', 'hasŁ', 'senord', 'adgangskode', 'passord', 'salasana', 'heslo', 'jelsz',
              'parola', 'ifre', 'İfre', U&'i\0307fre', 'ароль', 'АРОЛЬ', 'كلمة المرور', 'סיסמה', 'mật khẩu', 'mẬt khẨu',
              U&'ma\0323\0302t kha\0302\0309u', 'पासवर्ड'] AS hints,
        -- Words for a key.
        '(?:(?:api|app|auth|access|client|private|secret|encryption|signing|service|account|master|storage|admin|shared)[_ -]?key'
        '|token|secret|credentials?)' AS key,
        -- Between the word and its value: what the password is of, and a sign or a verb.
        '["''`*]{0,3}(?:\s(?:for|of|to|on|f[üÜu]rs?|v[oa]n|vom|zu[mr]|am|des|de[rl]?|para|della|d[aiou]|pour|per|voor|till?|f[öÖ]r|od|k'
        '|на|НА|от|ОТ|для|ДЛЯ|к|К)\s[^\n:=.,;]{1,28})?'
        '(?:\s{0,3}(?:[:：]{1,2}[=>]?|[=＝]>?(?!=)|->|\s[–—]\s)'
        '|\s{1,2}(?:(?:is|was|has been|ist|war|are)\s)?(?:(?:set|changed|reset|updated|now)\s)?'
        '(?:is|was|ist|war|lautet|es|era|est|était|c[''’]est|é|è|är|er|je|este|jest|to|now|là|هي|هو|है|היא|הוא|теперь)'
        '(?:\s(?:now|jetzt|nun|ahora|agora|maintenant|nu|teraz))?[:\s]|[''’]s\s)\s{0,3}' AS said,
        -- What stands there instead of a value: placeholders, names of programs, words of prose, counts and dates.
        '(?!your|example|placeholder|redacted|dummy|undefined|xxx|change[_-]?(?:me|this|it)'
        '|(?:insert|enter|type|repeat|confirm|forgot)[_ -]|getpass|getenv|not\M|too\M|at least'
        '|(?:process|os|env|config|settings|self|this|req|request|options|args|input|vault|vars?|local|data|module|params?|props|state|ctx'
        '|import|secrets?|form|response|result)[.:/\[]'
        '|(?:null|none|nil|true|false|required|invalid|incorrect|wrong|missing|optional|string|text|hidden|env|config|settings|options|args'
        '|input|req|forgot|must|should|vault|todo|change|1password|bcrypt|scrypt|argon2(?:id?|d)?|pbkdf2|sha-?[0-9]{1,3}|md5|base64|utf-?8'
        '|aes-?[0-9]{3}|m(?:in|ax)[0-9]{1,2})(?![A-Za-z0-9_-])'
        '|(?:[a-z0-9]+[_.-])*(?:pass(?:wor[dt]|wd)?|kennwort|contrase[nñ]a|mot[_-]de[_-]passe|senha|pwd|secret|token|key'
        '|credentials?)(?:[_.-][a-z0-9]+)*[0-9]{0,2}\.?(?:[\s"''`,;<>(){}\[\]」。]|$)'
        '|[0-9]{1,4}[ -]?(?:stellig|zeichen|ziffer|char|digit|letters?\M|words?\M|bits?\M|bytes?\M|days?\M|weeks?\M|months?\M|years?\M'
        '|hours?\M|min\M|steps?\M|factor|fa\M|times?\M|caract|tekens|jours\M|letras|m?[sx]\M|m\M|[kmg]b\M|st\M|nd\M|rd\M|th\M'
        '|символ|знак|karakter)|[0-9]{1,3} ?(?:to|bis|or|-|–) ?[0-9]{1,3}\M|(?:19|20)[0-9]{2}-[01][0-9](?:-[0-3][0-9])?(?![0-9])'
        '|/[a-z0-9_.-]+/)' AS no_word,
        -- A value that stands alone: what it has to have, and its characters. Brackets, $ and commas belong to it only inside.
        '(?=[^\s"''`,;<>()\[\]]{0,24}[0-9!@#%&*^+=~][^\s.!?:]|[^\s"''`,;<>()\[\]]{2,24}[0-9])'
        '(?=[0-9!@#%&*^+=~._/-]{0,24}[^\s0-9!@#%&*^+=~._/$-]|[0-9]{6})(?![{}$])'
        '(?:[^\s"''`,;<>(){}\[\]$」。]|\$(?![{(])|(?<=[a-z0-9])\{[^\s{}"''`<>$]{0,12}\}(?=[a-z0-9])'
        '|[,;](?=[^\s"''`,;:=<>(){}\[\]]{0,12}[0-9][^\s"''`,;:=<>(){}\[\]]{0,12}(?:\s|$))){4,}'
        '(?<![.:])(?=[.!?:]*(?:[\s"''`,;<>」。)}\]]|$))' AS value
    ) w
    CROSS JOIN LATERAL (VALUES
        ('private-key', ARRAY['-----begin '],
         '()-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-[^-])*[A-Za-z0-9+/]{24}(?:[^-]|-[^-])*'
         '(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)?'),
        ('private-key', ARRAY['private-lines:'], '(Private-Lines: ?[0-9]{1,4}\s{1,4})[A-Za-z0-9+/=]{40}[A-Za-z0-9+/=\s]*'),
        ('private-key', ARRAY['age-secret-key-1'], '()AGE-SECRET-KEY-1(?:\n?[0-9A-Z]){58}'),

        ('aws-access-key', ARRAY['akia', 'asia', 'abia', 'acca'],
         '()(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)(?:\n?[0-9A-Z]){16}(?![A-Za-z0-9])'),
        ('aws-secret-key', ARRAY['secret', 'aws'],
         '(?i)((?:aws[^\n]{0,20}(?:secret|key)|secret_?access_?key)[^\n]{0,20}[=:\s"''])(?:\n?[A-Za-z0-9/+]){40}(?![A-Za-z0-9/+=])'),
        ('azure-key', ARRAY['accountkey=', 'sharedaccesskey='], '(?i)((?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/]{42,88}={0,2}'),
        ('azure-key', ARRAY['8q~'], '()(?<![A-Za-z0-9])[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{34}(?![A-Za-z0-9])'),
        ('google-key', ARRAY['aiza'], '()(?<![A-Za-z0-9_-])AIza(?:\n?[A-Za-z0-9_-]){35}(?![A-Za-z0-9_-])'),
        ('google-key', ARRAY['ya29.', 'gocspx-'], '()(?<![A-Za-z0-9])(?:ya29\.[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{28})'),
        ('digitalocean-token', ARRAY['_v1_'], '()(?<![A-Za-z0-9])do[opr]_v1_(?:\n?[0-9a-f]){64}(?![0-9a-f])'),
        ('cloud-token',
         ARRAY['dapi', 'pscale_', 'hvs.', 'hvb.', '.atlasv1.', 'dp.pt.', 'dp.st.', 'fo1_', 'pul-', 'lin_api_', 'tskey-', 'hrku-'],
         '()(?<![A-Za-z0-9])(?:dapi[0-9a-f]{32}|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,64}|hv[sb]\.[A-Za-z0-9_-]{24,250}'
         '|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}|dp\.(?:pt|st)\.[A-Za-z0-9._-]{40,80}|fo1_[A-Za-z0-9_-]{43}|pul-[0-9a-f]{40}'
         '|lin_api_[A-Za-z0-9]{40}|tskey-[a-z]{2,10}-[A-Za-z0-9]{8,20}-[A-Za-z0-9]{20,40}|HRKU-[A-Za-z0-9_-]{36,64})(?![A-Za-z0-9])'),

        ('github-token', ARRAY['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
         '()(?<![A-Za-z0-9])gh[pousr]_(?:\n?[A-Za-z0-9]){36}(?![A-Za-z0-9])'),
        ('github-token', ARRAY['github_pat_'], '()(?<![A-Za-z0-9])github_pat_[A-Za-z0-9]{22}_(?:\n?[A-Za-z0-9]){59}(?![A-Za-z0-9])'),
        ('gitlab-token',
         ARRAY['glpat-', 'gldt-', 'glft-', 'glsoat-', 'glrt-', 'glcbt-', 'glptt-', 'glimt-', 'glagent-', 'gloas-', 'gr1348941'],
         '()(?<![A-Za-z0-9])(?:gl(?:pat|dt|ft|soat|rt|cbt|ptt|imt|agent|oas)-|GR1348941)[A-Za-z0-9_.-]{20,200}'),
        ('atlassian-token', ARRAY['atbb', 'atctt3', 'atatt3'],
         '()(?<![A-Za-z0-9])(?:ATBB[A-Za-z0-9]{32}|AT[AC]TT3[A-Za-z0-9_=-]{60,250})(?![A-Za-z0-9])'),
        ('npm-token', ARRAY['npm_'], '()(?<![A-Za-z0-9])npm_(?:\n?[A-Za-z0-9]){36}(?![A-Za-z0-9])'),
        ('npm-token', ARRAY['_authtoken'], '(:_authToken\s{0,3}=\s{0,3}["'']?)[A-Fa-f0-9-]{36}'),
        ('pypi-token', ARRAY['pypi-ag'], '()(?<![A-Za-z0-9])pypi-Ag[A-Za-z0-9_-]{50,}'),
        ('package-token', ARRAY['rubygems_', 'cio', 'dckr_pat_', 'akc', 'oy2'],
         '()(?<![A-Za-z0-9])(?:rubygems_[0-9a-f]{48}|cio[A-Za-z0-9]{32}|dckr_pat_[A-Za-z0-9_-]{27}|AKC[a-zA-Z0-9]{64,73}|oy2[a-z0-9]{43})'
         '(?![A-Za-z0-9])'),

        ('slack-token', ARRAY['xox', 'xapp-'],
         '()(?<![A-Za-z0-9])(?:xox[abeoprs](?:\.xox[bp])?-[0-9A-Za-z-]{10,250}|xapp-[0-9]-[A-Z0-9]{8,15}-[0-9]{8,15}-[a-f0-9]{40,80})'),
        ('chat-webhook', ARRAY['hooks.slack.com/', 'discord', 'webhook.office.com/'],
         '(?i)(hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/|webhook\.office\.com/webhookb2/)'
         '[A-Za-z0-9_/@-]{20,}'),
        ('discord-token', ARRAY['discord', 'bot', 'token'],
         '()(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}(?![A-Za-z0-9_-])'),
        ('telegram-token', ARRAY[':aa'], '()(?<![A-Za-z0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])'),

        ('jwt', ARRAY['eyj'],
         '()(?<![A-Za-z0-9_-])eyJ(?:\n?[A-Za-z0-9_-])+={0,2}\.\n?eyJ(?:\n?[A-Za-z0-9_-])+={0,2}\.(?:\n?[A-Za-z0-9_-])+'),
        ('bearer-token', ARRAY['bearer ', 'authorization'],
         '(?i)((?:\mbearer|authorization["'']?\s{0,3}[:=]\s{0,3}["'']?(?:basic|token|bearer))\s{1,3})'
         '(?=[A-Za-z._~+/-]{0,60}[0-9])[A-Za-z0-9._~+/-]{16,}={0,2}'),

        ('stripe-key', ARRAY['k_live_', 'k_test_', 'whsec_'],
         '()(?<![A-Za-z0-9])(?:[rs]k_(?:live|test)_[0-9a-zA-Z]{16,120}|whsec_[A-Za-z0-9+/]{32,64})'),
        ('payment-key', ARRAY['sq0', 'eaaa', 'access_token$', 'rzp_', 'shpat_', 'shpca_', 'shppa_', 'shpss_', 'flwseck'],
         '()(?<![A-Za-z0-9])(?:sq0(?:csp|atp)-[0-9A-Za-z_-]{22,43}|EAAA[A-Za-z0-9_-]{60}'
         '|access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}|rzp_(?:live|test)_[A-Za-z0-9]{14}'
         '|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|FLWSECK(?:_TEST)?-[0-9a-zA-Z]{32}(?:-X)?)(?![A-Za-z0-9])'),
        ('mail-key', ARRAY['sg.', '-us', 'key-', 're_', 'xkeysib-'],
         '()(?<![A-Za-z0-9])(?:SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}|[0-9a-f]{32}-us[0-9]{1,2}|key-[0-9a-f]{32}'
         '|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}|xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16})(?![A-Za-z0-9])'),
        ('twilio-key', ARRAY['twilio'], '()(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])'),

        ('model-provider-key', ARRAY['sk-'],
         '()(?<![A-Za-z0-9])sk-(?:[A-Za-z0-9]{32,64}|(?:proj|svcacct|admin|ant|or|None)-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,250})'
         '(?![A-Za-z0-9])'),
        ('model-provider-key', ARRAY['hf_', 'gsk_', 'r8_', 'xai-', 'pplx-', 'nvapi-', 'lsv2_', 'jina_', 'pa-', 'fw_', 'tgp_v1_'],
         '()(?<![A-Za-z0-9])(?:hf_[A-Za-z]{34}|gsk_[A-Za-z0-9]{52}|r8_[A-Za-z0-9]{37}|xai-[A-Za-z0-9]{80}|pplx-[A-Za-z0-9]{48,56}'
         '|nvapi-[A-Za-z0-9_-]{64}|lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|jina_[A-Za-z0-9_-]{60}|pa-[A-Za-z0-9_-]{43}'
         '|fw_[A-Za-z0-9]{22,24}|tgp_v1_[A-Za-z0-9_-]{43})(?![A-Za-z0-9])'),
        ('service-token',
         ARRAY['figd_', 'glsa_', 'glc_', 'nrak-', 'pmak-', 'ntn_', 'secret_', 'sntrys_', 'sntryu_', 'sbp_', 'phx_', 'pat', 'sl.'],
         '()(?<![A-Za-z0-9])(?:figd_[A-Za-z0-9_-]{40}|glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}|NRAK-[A-Z0-9]{27}'
         '|PMAK-[0-9a-f]{24}-[0-9a-f]{34}|ntn_[A-Za-z0-9]{43,50}|secret_[A-Za-z0-9]{43}|sntry[su]_[A-Za-z0-9+/=_-]{60,}|sbp_[0-9a-f]{40}'
         '|phx_[A-Za-z0-9]{43}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|sl\.[A-Za-z0-9_-]{130,152})(?![A-Za-z0-9])'),

        ('password-in-url', ARRAY['@'],
         '(?i)([a-z]://(?!(?:postgres:postgres|guest:guest|root:root|admin:admin|user:user|test:test|minioadmin:minioadmin)@)'
         '[^\s:/@"''<>]{0,100}:)(?!(?:pass(?:word|wd)?|pwd|secret|x+|[*]+|your[^@]{0,30}|changeme|example)@)'
         '[^\s/@"''<>{}$*]{3,200}(?=@[A-Za-z0-9\[_])'),
        -- Commands.
        ('password', ARRAY['curl ', 'wget '],
         '(?i)(\m(?:curl|wget)\s(?:[^\n]{0,200}\s)?(?:-u|--user)[ =]["'']?[^\s:"'']{1,60}:)[^\s"''<>{}$*\[]{4,100}'),
        ('password', ARRAY['sshpass ', 'mysql', 'mariadb', 'docker login', 'redis-cli'],
         '((?:\msshpass\s(?:-v\s)?-p ?|\m(?:mysql|mariadb)[a-z]{0,8}\s(?:[^\n|]{0,100}\s)?-p|\mdocker login\s(?:[^\n|]{0,100}\s)?-p[ =]'
         '|\mredis-cli\s(?:[^\n|]{0,100}\s)?-a )["'']?)(?![a-z]{1,12}[0-9]{0,2}(?:\s|$)|[0-9]{1,5}:[0-9])'
         '[^\s"''<>{}$*\[(-][^\s"''<>{}$]{3,100}'),
        ('password',
         ARRAY[' --pass', ' --token ', ' --secret ', 'identified by', 'password "', 'password ''', 'passwort "', 'passwort ''', 'ароль "'],
         '(?i)((?:\s--(?:pass(?:word|wd|phrase)?|pwd|token|secret)\s(?![a-z]+=)["'']?|(?:\midentified by|passwor[dt]|пароль)\s["'']))'
         || w.no_word || w.value),
        ('password', ARRAY['pass:', 'pass=', 'pass =', 'pass"', 'pass''', 'pass_', 'pw:', 'pw=', 'pw '],
         '((?:(?:(?<![A-Za-z0-9 -])|[,;/|] |[A-Za-z0-9][_-])(?:[Pp]ass|[Pp]w)["'']?\s{0,2}[:=]'
         '|[A-Za-z0-9]_PASS(?:_[A-Z0-9]{1,12})?["'']?\s{0,2}[:=]'
         '|(?:PG|DB|\m)(?:PASS|PW)=|\mpw\s)(?![=:])\s{0,3}["''`]?)' || w.no_word || w.value),
        ('password', ARRAY['</'],
         '(?i)(<[a-z0-9:_.-]{0,40}(?:passwor[dt]|passwd|pwd|passphrase)[a-z0-9_.-]{0,10}>\s{0,3})' || w.no_word
         || '(?=[^\s<]{0,40}[0-9!@#%&*^+=~])(?![{$*])[^\s<>]{4,100}(?=\s{0,3}</)'),
        ('password', ARRAY['passphrase', 'seed phrase', 'recovery phrase'],
         '(?i)((?:passphrase|(?:seed|recovery) phrase)' || w.said || '["''`]?)'
         '(?:(?<=["''`])(?:[a-z]{3,12}[ -]){3,23}[a-z]{3,12}(?=["''`])'
         '|(?:[a-z]{3,12}-){3,23}[a-z]{3,12}(?![a-z0-9-]))'),
        -- A value in quotes, and one that stands alone.
        ('password', w.hints,
         '(?i)((?:' || w.password || w.said || '|\msalasana(?:ni)?\son\s)["''`])' || w.no_word
         || '(?=[^\n"''`]{0,24}[0-9!@#%&*^+=~]|[^\s"''`]{6,24}["''`])(?![{$<%]|[^\n"''`]{0,60}(?:[$#%][{(]|\{\{))[^\n"''`]{4,}(?=["''`])'),
        ('password', w.hints, '(?i)((?:' || w.password || w.said || '|\msalasana(?:ni)?\son\s)["''`*「]{0,2})' || w.no_word || w.value),
        -- Without a sign: whose it is, and letters with digits.
        ('password', ARRAY['password ', 'passwort ', 'ароль '],
         '(?i)((?:passwor[dt]|[Пп]ароль)(?:\sfrom)?\s)' || w.no_word
         || '(?=[A-Za-z]{3,20}[0-9]{2,8}[!#%]?(?:[\s,;]|[.]?$))[A-Za-z0-9!#%]{6,28}'),
        -- What stands without a space in the languages of East Asia is of other letters than the value.
        ('password',
         ARRAY['密码', '密碼', '口令', 'パスワード', 'ワート', '비밀번호', U&'\1107\1175\1106\1175\11AF\1107\1165\11AB\1112\1169', 'ｐａｓｓｗｏｒｄ',
               'Ｐａｓｓｗｏｒｄ', 'ＰＡＳＳＷＯＲＤ'],
         '(?i)((?:密码|密碼|口令|パスワード|ハ\u309Aスワート\u3099|비밀번호|\u1107\u1175\u1106\u1175\u11AF\u1107\u1165\u11AB\u1112\u1169'
         '|[Ｐｐ](?:ａｓｓｗｏｒｄ|ＡＳＳＷＯＲＤ))(?:[^\x01-\x7f]{0,4}(?:是|为|為|成|は|が|を|는|은|가|를|：|＝)|[^\x01-\x7f]{0,2}\s?[:=])'
         '\s{0,3}["''`「『]{0,2})' || w.no_word
         || '(?=[A-Za-z0-9!#$%&*+./:=?@^_|~-]{0,24}[0-9!@#%&*^+=~])(?=[0-9.:/-]{0,24}[A-Za-z!#$%&*+=?@^_~]|[0-9]{6})'
         '(?![$*])[A-Za-z0-9!#$%&*+./:=?@^_|~-]{4,}'),
        ('azure-key', ARRAY['sig='], '([?&]sig=)[A-Za-z0-9%+/]{40,100}={0,2}'),
        ('assigned-secret', ARRAY['django-insecure-'], '(django-insecure-)[^\s"'']{30,80}'),
        -- Random characters, and no words and numbers that signs join, nor an address of a contract.
        ('assigned-secret', ARRAY['key', 'token', 'secret', 'credential'],
         '(?i)(' || w.key
         || '(?:["''`*]{0,3}\s{0,3}(?:[:：]{1,2}[=>]?|=>?(?!=))|["''`]?\s(?:is|was|ist|es|est)[:\s])\s{0,3}["''`]{0,2})' || w.no_word
         || '(?!(?:(?:[a-z]+|v?[0-9]{1,8}|[a-z]{3,16}[0-9]{1,4}|[a-z][0-9]{1,2}|[0-9]{1,4}[a-z]{1,2})[_./+~-]+)+'
            '(?:[a-z]+|v?[0-9]{1,8}|[a-z]{3,16}[0-9]{1,4}|[a-z][0-9]{1,2}|[0-9]{1,4}[a-z]{1,2})?(?![A-Za-z0-9_+/=~-])'
            '|0x[0-9a-f]{40}(?![0-9a-f]))'
            '(?=[A-Za-z_+/=.~-]{0,24}[0-9])(?=[0-9_+/=.~-]{0,24}[A-Za-z])[A-Za-z0-9_+/=.~-]{16,}(?![A-Za-z0-9_+/=~(\[-])')
    ) r (kind, hints, pattern);
END;
