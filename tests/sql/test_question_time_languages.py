"""The common times in each language that recall() reads, in a question and as a timeframe, and words that look like them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.phrases import check, in_question, moment

if TYPE_CHECKING:
    from psycopg import Connection

ASKED = "2026-11-27 12:00"
"""A Friday."""

YESTERDAY, BEFORE = "2026-11-26 2026-11-27", "2026-11-25 2026-11-26"
WEEK, MONTH, YEAR = "2026-11-16 2026-11-23", "2026-10-01 2026-11-01", "2025-01-01 2026-01-01"
SATURDAY, SUNDAY, FRIDAY, MONDAY = (
    "2026-11-21 2026-11-22",
    "2026-11-22 2026-11-23",
    "2026-11-20 2026-11-21",
    "2026-11-23 2026-11-24",
)
WEEKEND, EARLIER_WEEK = "2026-11-21 2026-11-23", "2026-11-09 2026-11-16"
THIS_WEEK, TODAY, FIRST_TO_FIFTH = "2026-11-23 2026-11-30", "2026-11-27 2026-11-28", "2026-11-01 2026-11-06"
NINTH, NINTH_2024, TOMORROW, IN_TWO = (
    "2026-11-09 2026-11-10",
    "2024-11-09 2024-11-10",
    "2026-11-28 2026-11-29",
    "2026-11-29 2026-11-30",
)
AUGUST, MARCH_2024, EARLY_MARCH_2024 = (
    "2026-08-01 2026-09-01",
    "2024-03-01 2024-04-01",
    "2024-03-01 2024-03-11",
)

PHRASES = {
    "en": {
        "yesterday": YESTERDAY, "the day before yesterday": BEFORE, "last week": WEEK, "last month": MONTH, "last year": YEAR,
        "last Saturday": SATURDAY, "last Sunday": SUNDAY, "last weekend": WEEKEND, "the week before last": EARLIER_WEEK,
        "this week": THIS_WEEK, "two Fridays ago": "2026-11-13 2026-11-14", "3 Mondays ago": "2026-11-09 2026-11-10",
        "a Sunday ago": SUNDAY, "on the fourth of July": "2026-07-04 2026-07-05", "July fourth": "2026-07-04 2026-07-05",
        "July the twenty-first": "2026-07-21 2026-07-22", "the thirty-first of October": "2026-10-31 2026-11-01",
        "May second": "2026-05-02 2026-05-03", "between 1 and 5 November": FIRST_TO_FIFTH, "from 1 to 5 November": FIRST_TO_FIFTH,
        "1-5 November": FIRST_TO_FIFTH, "November 1–5": FIRST_TO_FIFTH, "between November 1 and 5": FIRST_TO_FIFTH,
        "from November 1st to 5th": FIRST_TO_FIFTH, "between the 1st and the 5th of November 2024": "2024-11-01 2024-11-06",
        "between the first of October and the fifth of November": "2026-10-01 2026-11-06",
    },
    "de": {
        "gestern": YESTERDAY, "vorgestern": BEFORE, "letzte Woche": WEEK, "letzten Monat": MONTH, "letztes Jahr": YEAR,
        "letzten Samstag": SATURDAY, "am letzten Sonntag": SUNDAY, "vergangenen Freitag": FRIDAY, "letztes Wochenende": WEEKEND,
        "vorletzte Woche": EARLIER_WEEK, "vorletzten Monat": "2026-09-01 2026-10-01", "diese Woche": THIS_WEEK,
        "vorletzten Freitag": "2026-11-13 2026-11-14", "letzten Sommer": "2026-06-01 2026-09-01", "letzten Oktober": MONTH,
        "zwischen 1. und 5. November": FIRST_TO_FIFTH, "vom 1. bis zum 5. November 2024": "2024-11-01 2024-11-06",
        "vom 1. Oktober bis 5. November": "2026-10-01 2026-11-06", "zwischen März und Mai 2024": "2024-03-01 2024-06-01",
    },
    "fr": {
        "hier": YESTERDAY, "avant-hier": BEFORE, "la semaine dernière": WEEK, "le mois dernier": MONTH, "l'an dernier": YEAR,
        "l'année dernière": YEAR, "samedi dernier": SATURDAY, "dimanche dernier": SUNDAY, "vendredi passé": FRIDAY,
        "le week-end dernier": WEEKEND, "l'avant-dernière semaine": EARLIER_WEEK, "cette semaine": THIS_WEEK,
        "l'été dernier": "2026-06-01 2026-09-01", "entre le 1er et le 5 novembre": FIRST_TO_FIFTH,
        "du 1 au 5 novembre 2024": "2024-11-01 2024-11-06", "entre mars et mai 2024": "2024-03-01 2024-06-01",
    },
    "es": {
        "ayer": YESTERDAY, "anteayer": BEFORE, "la semana pasada": WEEK, "el mes pasado": MONTH, "el año pasado": YEAR,
        "el sábado pasado": SATURDAY, "el domingo pasado": SUNDAY, "el pasado viernes": FRIDAY, "el fin de semana pasado": WEEKEND,
        "la semana antepasada": EARLIER_WEEK, "esta semana": THIS_WEEK, "hace dos viernes": "2026-11-13 2026-11-14",
        "entre el 1 y el 5 de noviembre": FIRST_TO_FIFTH, "del 1 al 5 de noviembre de 2024": "2024-11-01 2024-11-06",
    },
    "it": {
        "ieri": YESTERDAY, "l'altro ieri": BEFORE, "la settimana scorsa": WEEK, "il mese scorso": MONTH, "l'anno scorso": YEAR,
        "sabato scorso": SATURDAY, "domenica scorsa": SUNDAY, "lo scorso venerdì": FRIDAY, "lo scorso weekend": WEEKEND,
        "due settimane fa": EARLIER_WEEK, "questa settimana": THIS_WEEK, "il 9 novembre": NINTH, "9 novembre 2024": NINTH_2024,
        "in ottobre": MONTH, "ad agosto": AUGUST, "a marzo 2024": MARCH_2024, "inizio marzo 2024": EARLY_MARCH_2024, "domani": TOMORROW,
        "dopodomani": IN_TWO,
    },
    "pt": {
        "ontem": YESTERDAY, "anteontem": BEFORE, "a semana passada": WEEK, "o mês passado": MONTH, "no ano passado": YEAR,
        "no sábado passado": SATURDAY, "domingo passado": SUNDAY, "na sexta-feira passada": FRIDAY, "na segunda passada": MONDAY,
        "no fim de semana passado": WEEKEND, "há duas semanas": EARLIER_WEEK, "duas semanas atrás": EARLIER_WEEK,
        "esta semana": THIS_WEEK, "9 de novembro": NINTH, "dia 9 de novembro de 2024": NINTH_2024, "em outubro": MONTH,
        "em agosto": AUGUST, "em março de 2024": MARCH_2024, "no início de março de 2024": EARLY_MARCH_2024, "amanhã": TOMORROW,
        "depois de amanhã": IN_TWO,
    },
    "nl": {
        "gisteren": YESTERDAY, "eergisteren": BEFORE, "vorige week": WEEK, "vorige maand": MONTH, "vorig jaar": YEAR,
        "vorige zaterdag": SATURDAY, "afgelopen zondag": SUNDAY, "afgelopen weekend": WEEKEND, "twee weken geleden": EARLIER_WEEK,
        "deze week": THIS_WEEK, "9 november": NINTH, "op 9 november 2024": NINTH_2024, "in oktober": MONTH, "in augustus": AUGUST,
        "in maart 2024": MARCH_2024, "begin maart 2024": EARLY_MARCH_2024, "overmorgen": IN_TWO,
    },
    "pl": {
        "wczoraj": YESTERDAY, "przedwczoraj": BEFORE, "w zeszłym tygodniu": WEEK, "w ubiegłym miesiącu": MONTH, "w zeszłym roku": YEAR,
        "w zeszłą sobotę": SATURDAY, "w ubiegły poniedziałek": MONDAY, "w zeszły weekend": WEEKEND, "dwa tygodnie temu": EARLIER_WEEK,
        "w tym tygodniu": THIS_WEEK, "9 listopada": NINTH, "9 listopada 2024": NINTH_2024, "w październiku": MONTH,
        "w sierpniu": AUGUST, "w marcu 2024": MARCH_2024, "na początku marca 2024": EARLY_MARCH_2024, "jutro": TOMORROW,
        "pojutrze": IN_TWO,
    },
    "ru": {
        "вчера": YESTERDAY, "позавчера": BEFORE, "на прошлой неделе": WEEK, "в прошлом месяце": MONTH, "в прошлом году": YEAR,
        "в прошлую субботу": SATURDAY, "в прошлое воскресенье": SUNDAY, "в прошлый понедельник": MONDAY,
        "в прошлую пятницу": FRIDAY, "в прошлые выходные": WEEKEND, "на позапрошлой неделе": EARLIER_WEEK,
        "две недели назад": EARLIER_WEEK, "на этой неделе": THIS_WEEK, "с 1 по 5 ноября": FIRST_TO_FIFTH,
    },
    "zh": {
        "昨天": YESTERDAY, "前天": BEFORE, "上周": WEEK, "上星期": WEEK, "上个月": MONTH, "去年": YEAR, "上周六": SATURDAY,
        "上星期天": SUNDAY, "上週日": SUNDAY, "上周五": FRIDAY, "上周末": WEEKEND, "上上周": EARLIER_WEEK, "两周前": EARLIER_WEEK,
        "本周": THIS_WEEK, "11月1日到5日": FIRST_TO_FIFTH, "2024年10月1日到11月5日": "2024-10-01 2024-11-06",
    },
    "ja": {
        "昨日": YESTERDAY, "一昨日": BEFORE, "先週": WEEK, "先月": MONTH, "昨年": YEAR, "先週の土曜日": SATURDAY, "前の日曜日": SUNDAY,
        "先週末": WEEKEND, "先々週": EARLIER_WEEK, "2週間前": EARLIER_WEEK, "今週": THIS_WEEK, "11月1日から5日": FIRST_TO_FIFTH,
    },
    "ar": {
        "أمس": YESTERDAY, "أول أمس": BEFORE, "الأسبوع الماضي": WEEK, "الشهر الماضي": MONTH, "السنة الماضية": YEAR,
        "السبت الماضي": SATURDAY, "يوم الأحد الماضي": SUNDAY, "هذا الأسبوع": THIS_WEEK,
    },
}  # fmt: skip

ONLY_IN_QUESTIONS = {
    "on 1 and 2 November": "2026-11-01 2026-11-03",
    "what did we eat the Friday before last?": "2026-11-13 2026-11-14",
    "what falls due in two weeks": "2026-12-07 2026-12-14",
    "what happened in 2024?": "2024-01-01 2025-01-01",
    "ماذا فعلنا بالأمس": YESTERDAY,
    # today, of one's own day
    "Was habe ich heute gemacht?": TODAY,
    "¿qué hice hoy?": TODAY,
    "qu'ai-je fait aujourd'hui, et mes notes ?": TODAY,
    "che cosa ho fatto oggi?": TODAY,
    "o que eu fiz hoje?": TODAY,
    "wat deed ik vandaag?": TODAY,
    "что я делал сегодня?": TODAY,
    "今天我做了什么": TODAY,
    "私は今日何をした": TODAY,
    "Was habe ich morgen vor?": TOMORROW,
    "Wat doe ik morgen?": TOMORROW,
    "¿qué tengo que hacer mañana?": TOMORROW,
    "¿qué hago pasado mañana?": IN_TWO,
    "qu'est-ce que je fais demain ?": TOMORROW,
    "что у меня завтра?": TOMORROW,
    "Was steht übermorgen an?": IN_TWO,
}

NO_TIMES = [
    # a number that counts something
    "sort in 2024 rows", "it was solved in 2024 steps", "since 2000 users asked", "from 1 to 5", "between 1 and 5", "3 and 5 are prime",
    # words of another meaning
    "may first graders go?", "may second thoughts come", "the first March release", "the second May flower", "the fifth element", "on Fridays",
    "a prayer", "the gran estate", "films of Scorsese", "una historia pasada", "sexta sinfonia", "segunda opinión", "le passé", "una fata", "en gros",
    "prossima fermata", "año nuevo", "qué hago por la mañana", "was esse ich am morgen", "wie geht guten morgen auf polnisch",
    "co to jest temu", "marca de zapatos", "cosa mangia a cena", "maja plażowa", "wie is mei", "foto's van het weekend", "день победы", "أمسية شعرية", "il sei di coppe", "la última cena",
    # nowadays
    "Was läuft heute?", "¿qué hay hoy?", "今天天气",
]  # fmt: skip


@pytest.mark.parametrize(
    ("language", "phrase"), [(each, phrase) for each in PHRASES for phrase in PHRASES[each]]
)
def test_question_and_timeframe_agree(read_only: Connection[Any], language: str, phrase: str) -> None:
    expected = PHRASES[language][phrase]
    check(read_only, phrase, expected, anchor=ASKED)
    for query in (phrase, f"{phrase}?") if phrase != "hier" else ("qu'avons-nous fait hier ?",):
        found = in_question(read_only, query, ASKED)
        assert found is not None
        assert (found.lower, found.upper) == tuple(moment(end, "UTC") for end in expected.split(" "))


@pytest.mark.parametrize(("query", "expected"), ONLY_IN_QUESTIONS.items())
def test_a_time_in_a_question(read_only: Connection[Any], query: str, expected: str) -> None:
    found = in_question(read_only, query, ASKED)
    assert found is not None
    assert (found.lower, found.upper) == tuple(moment(end, "UTC") for end in expected.split(" "))


@pytest.mark.parametrize("query", NO_TIMES)
def test_no_time_in_a_question(read_only: Connection[Any], query: str) -> None:
    assert in_question(read_only, query, ASKED) is None
