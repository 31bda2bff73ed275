"""Times in Chinese, Japanese, Korean, Thai, Arabic and Hindi, and what looks like one but is none."""

from __future__ import annotations

DAY, MONTH, YEAR = "2026-12-09 2026-12-10", "2026-12-01 2027-01-01", "2026-01-01 2027-01-01"
YESTERDAY, TODAY, TOMORROW = "2026-11-26 2026-11-27", "2026-11-27 2026-11-28", "2026-11-28 2026-11-29"
BEFORE, AFTER = "2026-11-25 2026-11-26", "2026-11-29 2026-11-30"
LAST_WEEK, THIS_WEEK, NEXT_WEEK = "2026-11-16 2026-11-23", "2026-11-23 2026-11-30", "2026-11-30 2026-12-07"
LAST_MONTH, THIS_MONTH, NEXT_MONTH = "2026-10-01 2026-11-01", "2026-11-01 2026-12-01", MONTH
LAST_YEAR, NEXT_YEAR = "2025-01-01 2026-01-01", "2027-01-01 2028-01-01"
LAST_MONDAY, NEXT_MONDAY = "2026-11-16 2026-11-17", "2026-11-30 2026-12-01"
FRIDAY, MONDAY, NEXT_WEEKEND = TODAY, "2026-11-23 2026-11-24", "2026-12-05 2026-12-07"
DAYS_AGO, DAYS_ON = "2026-11-24 2026-11-25", "2026-11-30 2026-12-01"
WEEKS_AGO, WEEKS_ON = "2026-11-09 2026-11-16", "2026-12-07 2026-12-14"

TIMES = {
    # a date in every writing
    "2026年12月9日": DAY, "２０２６年１２月９日": DAY, "二〇二六年十二月九日": DAY, "2026年12月9号": DAY, "令和8年12月9日": DAY,
    "令和八年十二月九日": DAY, "民國115年12月9日": DAY, "平成元年12月9日": "1989-12-09 1989-12-10", "2026년 12월 9일": DAY, "2026년12월9일": DAY,
    "9 ธันวาคม 2569": DAY, "9 ธ.ค. 2569": DAY, "๙ ธันวาคม ๒๕๖๙": DAY, "9 ธันวาคม 2026": DAY,
    "9 ธันวาคม พ.ศ. 2569": DAY, "٩ ديسمبر ٢٠٢٦": DAY, "9 أكتوبر 2026": "2026-10-09 2026-10-10", "٢٠٢٦-١٢-٠٩": DAY,
    "९ दिसंबर २०२६": DAY, "2026年12月": MONTH, "2026년 12월": MONTH, "2026年": YEAR, "2026년": YEAR,
    "去年12月": "2025-12-01 2026-01-01", "明年3月5日": "2027-03-05 2027-03-06", "작년 12월": "2025-12-01 2026-01-01",
    # days near today
    "昨天": YESTERDAY, "昨日": YESTERDAY, "어제": YESTERDAY, "เมื่อวาน": YESTERDAY, "أمس": YESTERDAY, "前天": BEFORE, "一昨日": BEFORE,
    "그저께": BEFORE, "明天": TOMORROW, "明日": TOMORROW, "내일": TOMORROW, "พรุ่งนี้": TOMORROW, "غدا": TOMORROW, "后天": AFTER, "後天": AFTER,
    "明後日": AFTER, "あさって": AFTER, "모레": AFTER, "大后天": DAYS_ON, "三天前": DAYS_AGO, "3日前": DAYS_AGO, "3일 전": DAYS_AGO,
    "사흘 전": DAYS_AGO, "3 วันก่อน": DAYS_AGO, "3天后": DAYS_ON, "3日後": DAYS_ON, "3일 후": DAYS_ON,
    # weeks and their days
    "上周": LAST_WEEK, "上星期": LAST_WEEK, "先週": LAST_WEEK, "지난주": LAST_WEEK, "지난 주": LAST_WEEK, "สัปดาห์ที่แล้ว": LAST_WEEK,
    "本周": THIS_WEEK, "这周": THIS_WEEK, "今週": THIS_WEEK, "이번 주": THIS_WEEK, "下周": NEXT_WEEK, "下个星期": NEXT_WEEK, "来週": NEXT_WEEK,
    "다음 주": NEXT_WEEK, "สัปดาห์หน้า": NEXT_WEEK, "两周前": WEEKS_AGO, "2週間前": WEEKS_AGO, "先々週": WEEKS_AGO, "2주 전": WEEKS_AGO,
    "지지난주": WEEKS_AGO, "两周后": WEEKS_ON, "再来週": WEEKS_ON, "다다음 주": WEEKS_ON, "上周一": LAST_MONDAY, "先週の月曜日": LAST_MONDAY,
    "지난주 월요일": LAST_MONDAY, "下周一": NEXT_MONDAY, "下星期一": NEXT_MONDAY, "来週の月曜日": NEXT_MONDAY, "来週月曜": NEXT_MONDAY,
    "다음 주 월요일": NEXT_MONDAY, "วันจันทร์หน้า": NEXT_MONDAY, "这周五": FRIDAY, "本周五": FRIDAY, "今週の金曜日": FRIDAY, "이번 주 금요일": FRIDAY,
    "星期一": MONDAY, "周一": MONDAY, "月曜日": MONDAY, "월요일": MONDAY, "วันจันทร์": MONDAY, "下周末": NEXT_WEEKEND, "来週末": NEXT_WEEKEND,
    "다음 주말": NEXT_WEEKEND,
    # months and years
    "上个月": LAST_MONTH, "先月": LAST_MONTH, "지난달": LAST_MONTH, "เดือนที่แล้ว": LAST_MONTH, "本月": THIS_MONTH, "今月": THIS_MONTH,
    "이번 달": THIS_MONTH, "下个月": NEXT_MONTH, "来月": NEXT_MONTH, "다음 달": NEXT_MONTH, "一个月前": LAST_MONTH, "1か月前": LAST_MONTH,
    "1개월 전": LAST_MONTH, "去年": LAST_YEAR, "昨年": LAST_YEAR, "작년": LAST_YEAR, "ปีที่แล้ว": LAST_YEAR, "今年": YEAR, "올해": YEAR,
    "明年": NEXT_YEAR, "来年": NEXT_YEAR, "내년": NEXT_YEAR, "ปีหน้า": NEXT_YEAR,
}  # fmt: skip
"""In a text, a question and a timeframe, seen from Friday, 27 November 2026."""

ONLY_IN_TEXTS = {
    "12月9日に歯医者": DAY, "会议在12月9日下午3点": DAY, "十二月九号交稿": DAY, "회의는 12월 9일에 있다": DAY, "12月初め": MONTH, "12월에 이사": MONTH,
    "2026. 12. 9. 회의": DAY, "今天开会": TODAY, "今日は晴れ": TODAY, "오늘은 맑다": TODAY, "วันนี้ฝนตก": TODAY, "นัดหมอวันที่9ธันวาคม2569": DAY,
    "12月9日から12日まで京都": "2026-12-09 2026-12-13", "12월 9일부터 12일까지": "2026-12-09 2026-12-13",
    "Zahnarzt am 9.12. um 10": DAY, "fällig bis 9.12.26": DAY, "due 17-12-2026": "2026-12-17 2026-12-18", "fällig 9.12.2026": DAY,
    "seen 22/12/26": "2026-12-22 2026-12-23", "at 2026/12/9": DAY,
}  # fmt: skip
"""Days without a year are the nearest in a text, the last in a question; numbers in every language."""

NO_TIMES = [
    "每周五游泳", "一周五天", "一周三次", "四周一片寂静", "学习周期", "周围的人", "明日香", "后天性免疫", "3个月大", "2024年度报告", "上周期", "本来", "언어제한",
    "모래", "그제야", "이번 주제는", "이번 주문", "다음 주소", "3일 전화했다", "오늘날", "매주 금요일", "지난 해결책", "ทุกวันจันทร์", "毎週月曜日", "日曜大工",
    "先生", "十年", "3年生", "12月32日", "2026年13月9日", "version 16.12.3", "3.4.2024.1", "10.12.2026.1", "09/12/2026", "3/4/24", "24/7",
    "pytest 8.3.24", "PyCharm 2024.1.3", "order 17-12-2026-9",
]  # fmt: skip
