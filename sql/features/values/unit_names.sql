-- Returns the names of units, without accents, each with the unit it is measured in and how many of those it has.
--
-- A unit or a language is added here; no code names a unit. A name with two meanings has two pairs (pound).
CREATE OR REPLACE FUNCTION _pgrecall.unit_names()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{
    "mg": ["g", 0.001], "g": ["g", 1], "gr": ["g", 1], "gram": ["g", 1], "grams": ["g", 1], "gramm": ["g", 1], "gramme": ["g", 1],
    "grammes": ["g", 1], "gramos": ["g", 1], "grammi": ["g", 1], "kg": ["g", 1000], "kgs": ["g", 1000], "kilo": ["g", 1000],
    "kilos": ["g", 1000], "kilogram": ["g", 1000], "kilograms": ["g", 1000], "kilogramm": ["g", 1000], "kilogramme": ["g", 1000],
    "kilogrammes": ["g", 1000], "kilogramos": ["g", 1000], "chili": ["g", 1000], "кг": ["g", 1000], "г": ["g", 1],
    "tonne": ["g", 1000000], "tonnes": ["g", 1000000], "tonnen": ["g", 1000000],
    "oz": ["oz", 1], "ounce": ["oz", 1], "ounces": ["oz", 1], "lb": ["lb", 1], "lbs": ["lb", 1],
    "pound": ["lb", 1, "GBP", 1], "pounds": ["lb", 1, "GBP", 1],
    "mm": ["m", 0.001], "millimetre": ["m", 0.001], "millimetres": ["m", 0.001], "millimeter": ["m", 0.001],
    "millimeters": ["m", 0.001], "cm": ["m", 0.01], "centimetre": ["m", 0.01], "centimetres": ["m", 0.01],
    "centimeter": ["m", 0.01], "centimeters": ["m", 0.01], "centimetros": ["m", 0.01], "m": ["m", 1], "metre": ["m", 1],
    "metres": ["m", 1], "meter": ["m", 1], "meters": ["m", 1], "metros": ["m", 1], "metri": ["m", 1], "м": ["m", 1],
    "km": ["m", 1000], "kms": ["m", 1000], "kilometre": ["m", 1000], "kilometres": ["m", 1000], "kilometer": ["m", 1000],
    "kilometers": ["m", 1000], "kilometern": ["m", 1000], "kilometros": ["m", 1000], "chilometri": ["m", 1000], "км": ["m", 1000],
    "mile": ["mi", 1], "miles": ["mi", 1], "mi": ["mi", 1], "ft": ["ft", 1], "foot": ["ft", 1], "feet": ["ft", 1],
    "inch": ["inch", 1], "inches": ["inch", 1],
    "ml": ["l", 0.001], "millilitre": ["l", 0.001], "millilitres": ["l", 0.001], "milliliter": ["l", 0.001],
    "milliliters": ["l", 0.001], "cl": ["l", 0.01], "l": ["l", 1], "litre": ["l", 1], "litres": ["l", 1], "liter": ["l", 1],
    "liters": ["l", 1], "litros": ["l", 1], "litri": ["l", 1], "л": ["l", 1],
    "s": ["s", 1], "sec": ["s", 1], "secs": ["s", 1], "second": ["s", 1], "seconds": ["s", 1], "sekunden": ["s", 1],
    "secondes": ["s", 1], "segundos": ["s", 1], "min": ["s", 60], "mins": ["s", 60], "minute": ["s", 60], "minutes": ["s", 60],
    "minuten": ["s", 60], "minutos": ["s", 60], "minuti": ["s", 60], "h": ["s", 3600], "hr": ["s", 3600], "hrs": ["s", 3600],
    "hour": ["s", 3600], "hours": ["s", 3600], "stunde": ["s", 3600], "stunden": ["s", 3600], "heure": ["s", 3600],
    "heures": ["s", 3600], "hora": ["s", 3600], "horas": ["s", 3600], "ore": ["s", 3600], "uur": ["s", 3600],
    "kb": ["MB", 0.001], "mb": ["MB", 1], "gb": ["MB", 1000], "tb": ["MB", 1000000], "megabytes": ["MB", 1],
    "gigabyte": ["MB", 1000], "gigabytes": ["MB", 1000], "terabyte": ["MB", 1000000], "terabytes": ["MB", 1000000],
    "°c": ["degC", 1], "celsius": ["degC", 1], "degrees celsius": ["degC", 1], "°f": ["degF", 1], "fahrenheit": ["degF", 1],
    "degrees fahrenheit": ["degF", 1],
    "$": ["USD", 1], "us$": ["USD", 1], "usd": ["USD", 1], "dollar": ["USD", 1], "dollars": ["USD", 1], "bucks": ["USD", 1],
    "dolares": ["USD", 1], "€": ["EUR", 1], "eur": ["EUR", 1], "euro": ["EUR", 1], "euros": ["EUR", 1], "евро": ["EUR", 1],
    "£": ["GBP", 1], "gbp": ["GBP", 1], "quid": ["GBP", 1], "chf": ["CHF", 1], "franken": ["CHF", 1], "francs": ["CHF", 1],
    "¥": ["JPY", 1], "jpy": ["JPY", 1], "yen": ["JPY", 1], "円": ["JPY", 1], "圓": ["JPY", 1], "元": ["CNY", 1],
    "cny": ["CNY", 1], "rmb": ["CNY", 1], "yuan": ["CNY", 1], "₽": ["RUB", 1], "rub": ["RUB", 1], "rubles": ["RUB", 1],
    "рублей": ["RUB", 1], "inr": ["INR", 1], "₹": ["INR", 1], "rupees": ["INR", 1]
}'::jsonb;
