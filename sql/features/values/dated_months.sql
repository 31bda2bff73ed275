-- Returns the names of the months as they stand beside a day: month_names(), and one-word names of further languages.
--
-- In a question, a month of those languages counts only with a number: so many names would take other words for months.
-- Croatian is not here: its listopad is October, that of Polish and Czech is November.
-- Hebrew has each name with "in" before it, too.
CREATE OR REPLACE FUNCTION _pgrecall.dated_months()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN _pgrecall.month_names() || '{
    "marts": 3, "desember": 12,
    "stycznia": 1, "styczniu": 1, "styczen": 1, "lutego": 2, "lutym": 2, "luty": 2, "marca": 3, "marcu": 3, "marzec": 3,
    "kwietnia": 4, "kwietniu": 4, "kwiecien": 4, "maja": 5, "maju": 5, "czerwca": 6, "czerwcu": 6, "czerwiec": 6,
    "lipca": 7, "lipcu": 7, "lipiec": 7, "sierpnia": 8, "sierpniu": 8, "sierpien": 8, "wrzesnia": 9, "wrzesniu": 9,
    "wrzesien": 9, "pazdziernika": 10, "pazdzierniku": 10, "pazdziernik": 10, "listopada": 11, "listopadzie": 11,
    "listopad": 11, "grudnia": 12, "grudniu": 12, "grudzien": 12,
    "ledna": 1, "leden": 1, "unora": 2, "unor": 2, "brezna": 3, "brezen": 3, "dubna": 4, "duben": 4, "kvetna": 5,
    "kveten": 5, "cervna": 6, "cerven": 6, "cervence": 7, "cervenec": 7, "srpna": 8, "srpen": 8, "zari": 9,
    "rijna": 10, "rijen": 10, "listopadu": 11, "prosince": 12, "prosinec": 12,
    "januara": 1, "februara": 2, "marec": 3, "aprila": 4, "juna": 6, "jula": 7, "augusta": 8, "septembra": 9,
    "oktobra": 10, "novembra": 11, "decembra": 12,
    "marcius": 3, "aprilis": 4, "majus": 5, "junius": 6, "julius": 7, "augusztus": 8, "szeptember": 9,
    "ianuarie": 1, "februarie": 2, "martie": 3, "aprilie": 4, "iunie": 6, "iulie": 7, "septembrie": 9,
    "octombrie": 10, "noiembrie": 11, "decembrie": 12,
    "tammikuuta": 1, "tammikuu": 1, "helmikuuta": 2, "helmikuu": 2, "maaliskuuta": 3, "maaliskuu": 3, "huhtikuuta": 4,
    "huhtikuu": 4, "toukokuuta": 5, "toukokuu": 5, "kesakuuta": 6, "kesakuu": 6, "heinakuuta": 7, "heinakuu": 7,
    "elokuuta": 8, "elokuu": 8, "syyskuuta": 9, "syyskuu": 9, "lokakuuta": 10, "lokakuu": 10, "marraskuuta": 11,
    "marraskuu": 11, "joulukuuta": 12, "joulukuu": 12,
    "ocak": 1, "subat": 2, "mart": 3, "nisan": 4, "mayis": 5, "haziran": 6, "temmuz": 7, "agustos": 8, "eylul": 9,
    "ekim": 10, "kasim": 11, "aralik": 12,
    "maret": 3, "agustus": 8,
    "gener": 1, "febrer": 2, "marc": 3, "maig": 5, "juny": 6, "juliol": 7, "agost": 8, "setembre": 9, "desembre": 12,
    "січня": 1, "січень": 1, "лютого": 2, "лютий": 2, "березня": 3, "березень": 3, "квітня": 4, "квітень": 4,
    "травня": 5, "травень": 5, "червня": 6, "червень": 6, "липня": 7, "липень": 7, "серпня": 8, "серпень": 8,
    "вересня": 9, "вересень": 9, "жовтня": 10, "жовтень": 10, "листопада": 11, "листопад": 11, "грудня": 12,
    "грудень": 12,
    "януари": 1, "февруари": 2, "април": 4, "юни": 6, "юли": 7, "септември": 9, "октомври": 10, "ноември": 11,
    "декември": 12,
    "ιανουαριου": 1, "ιανουαριοσ": 1, "φεβρουαριου": 2, "φεβρουαριοσ": 2, "μαρτιου": 3, "μαρτιοσ": 3, "απριλιου": 4,
    "απριλιοσ": 4, "μαιου": 5, "μαιοσ": 5, "ιουνιου": 6, "ιουνιοσ": 6, "ιουλιου": 7, "ιουλιοσ": 7, "αυγουστου": 8,
    "αυγουστοσ": 8, "σεπτεμβριου": 9, "σεπτεμβριοσ": 9, "οκτωβριου": 10, "οκτωβριοσ": 10, "νοεμβριου": 11,
    "νοεμβριοσ": 11, "δεκεμβριου": 12, "δεκεμβριοσ": 12,
    "ינואר": 1, "בינואר": 1, "פברואר": 2, "בפברואר": 2, "מרץ": 3, "במרץ": 3, "אפריל": 4, "באפריל": 4, "מאי": 5,
    "במאי": 5, "יוני": 6, "ביוני": 6, "יולי": 7, "ביולי": 7, "אוגוסט": 8, "באוגוסט": 8, "ספטמבר": 9, "בספטמבר": 9,
    "אוקטובר": 10, "באוקטובר": 10, "נובמבר": 11, "בנובמבר": 11, "דצמבר": 12, "בדצמבר": 12,
    "يناير": 1, "فبراير": 2, "مارس": 3, "ابريل": 4, "مايو": 5, "يونيو": 6, "يوليو": 7, "اغسطس": 8, "سبتمبر": 9,
    "اكتوبر": 10, "نوفمبر": 11, "ديسمبر": 12,
    "ژانويه": 1, "فوريه": 2, "اوريل": 4, "مه": 5, "ژوئن": 6, "ژوئيه": 7, "اوت": 8, "سپتامبر": 9, "اكتبر": 10,
    "نوامبر": 11, "دسامبر": 12,
    "जनवरी": 1, "फरवरी": 2, "मार्च": 3, "अप्रैल": 4, "मई": 5, "जून": 6, "जुलाई": 7, "अगस्त": 8, "सितंबर": 9,
    "अक्टूबर": 10, "नवंबर": 11, "दिसंबर": 12,
    "มกราคม": 1, "กุมภาพันธ์": 2, "มีนาคม": 3, "เมษายน": 4, "พฤษภาคม": 5, "มิถุนายน": 6, "กรกฎาคม": 7, "สิงหาคม": 8,
    "กันยายน": 9, "ตุลาคม": 10, "พฤศจิกายน": 11, "ธันวาคม": 12
}'::jsonb;
