"""Times as ISO 8601 strings that keep the precision that is known, and the English that stands for them.

A time is a day `2023-05-07`, a month `2023-05`, a year `2023`, an ISO week `2023-W19`, or an interval of two of
these with a slash. What a dialogue says relatively is counted from the session's own time: neither the clock nor the
time zone of the process is ever read.
"""

import re
from calendar import monthrange
from datetime import date, datetime, timedelta

from dateutil.relativedelta import relativedelta

MONTHS: tuple[str, ...] = ("january", "february", "march", "april", "may", "june")
MONTHS += ("july", "august", "september", "october", "november", "december")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""First month of each season; three months each, a winter is named after the year in which it begins."""
NUMBERS = {"a couple of": 2, "couple of": 2, "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
NUMBERS |= {"six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}

_MONTH = "|".join([*MONTHS, "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sept?", "oct", "nov", "dec"])
_WEEKDAY = "|".join(WEEKDAYS)
_SEASON = "|".join(SEASONS)
_NUMBER = rf"\d{{1,3}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))}"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_ORDINAL = r"(?:st|nd|rd|th)?\b"
_DAY_MONTH = (
    rf"(?:(?P<day>\d{{1,2}}){_ORDINAL}(?: of)? (?P<month>{_MONTH})\b\.?"
    rf"|(?P<month2>{_MONTH})\b\.? (?:the )?(?P<day2>\d{{1,2}}){_ORDINAL})"
)
_WHICH = r"(?P<which>this past|this coming|last|past|previous|this|next|coming)"

_CLOCK = re.compile(
    r"^\d{1,2}(?::\d\d)? ?(?:am|pm) on |,?[ t]\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?: ?[ap]m|z|[+-]\d\d:?\d\d)?$"
)
_ISO_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_ISO_MONTH = re.compile(r"(\d{4})-(\d\d)")
_ISO_WEEK = re.compile(r"(\d{4})-w(\d\d)")
_FULL_DAY = re.compile(rf"(?:(?:{_WEEKDAY}),? )?{_DAY_MONTH}(?:,| of|, of)? ?{_YEAR}")
_FULL_MONTH = re.compile(rf"(?P<month>{_MONTH})\b\.?(?:,| of)? {_YEAR}")
_FULL_SEASON = re.compile(rf"(?:the )?(?P<season>{_SEASON})(?: of|,)? {_YEAR}")
_AROUND_DAY = re.compile(r"(?:the )?(?P<unit>week|weekend) of (?P<rest>.+)")


def normalise(text: str) -> str | None:
    """The ISO form of an absolute time (ISO itself, "8 May, 2023", "May 2023", "summer 2022", "2023", intervals).

    None where no one absolute time is meant: relative words, impossible dates, all-numeric days such as 03/04/2023,
    whose order is not known.
    """
    words = _CLOCK.sub("", " ".join(text.lower().strip(" .").split()))
    try:
        return _one(words) or _interval(words)
    except ValueError:  # 2023-13-45, 31 June: written like a date, but on no calendar
        return None


def span(iso: str) -> tuple[date, date]:
    """First and last day of a normalised time. Raises ValueError for anything else."""
    if "/" in iso:
        first, last = (span(end) for end in iso.split("/"))
        return first[0], last[1]
    if match := re.fullmatch(r"(\d{4})-W(\d\d)", iso):
        monday = date.fromisocalendar(int(match[1]), int(match[2]), 1)
        return monday, monday + timedelta(days=6)
    if _ISO_DAY.fullmatch(iso):
        return date.fromisoformat(iso), date.fromisoformat(iso)
    if not (match := re.fullmatch(r"(\d{4})(?:-(\d\d))?", iso)):
        raise ValueError(f"not a normalised time: {iso!r}")
    year = int(match[1])
    first_month, last_month = (int(match[2]), int(match[2])) if match[2] else (1, 12)
    return date(year, first_month, 1), date(year, last_month, monthrange(year, last_month)[1])


def say(iso: str) -> str:
    """A normalised time in plain English at its own precision: "7 May 2023", "the week of 26 December 2022"."""
    first, last = span(iso)
    if "/" in iso:
        begin, end = iso.split("/")
        for season in ("spring", "summer", "autumn", "winter"):
            if iso == _season(season, first.year):
                return f"{season} {first.year}"
        if len(begin) == 10 and first.weekday() == 5 and last == first + timedelta(days=1):
            return f"the weekend of {say(begin)}"
        return f"{say(begin)} to {say(end)}"
    if "W" in iso:
        return f"the week of {say(first.isoformat())}"
    month = MONTHS[first.month - 1].capitalize()
    return {4: iso, 7: f"{month} {first.year}"}.get(len(iso), f"{first.day} {month} {first.year}")


def resolve(phrase: str, said: datetime, future: bool = False) -> str | None:
    """The time meant by `phrase` in a session held at `said`, no more precise than the phrase ("last year": `2022`).

    A bare weekday is the one before `said`, or after it where `future` is true. None where the phrase does not tell
    a time ("a few days ago", "recently").
    """
    words = " ".join(phrase.lower().strip(" .,").split())
    if absolute := normalise(_LEAD.sub("", words)):
        return absolute
    today = said.date()
    try:
        if words in _NEAR_DAYS:
            return (today + timedelta(days=_NEAR_DAYS[words])).isoformat()
        return _counted(words, today) or _named(_LEAD.sub("", words), today, future)
    except (ValueError, OverflowError):  # 30 February, 9,000 years ago: no such day
        return None


def find(text: str, said: datetime | None) -> list[tuple[str, str]]:
    """Every time expression of a sentence with its ISO form, in order; without `said` the absolute ones only."""
    future = bool(_FUTURE.search(text))
    found = []
    for match in _EXPRESSION.finditer(" ".join(text.split())):
        phrase = match[0]
        iso = resolve(phrase, said, future) if said else normalise(_LEAD.sub("", phrase.lower()))
        if iso:
            found.append((phrase, iso))
    return found


def _one(words: str) -> str | None:
    if match := _ISO_DAY.fullmatch(words):
        return date(int(match[1]), int(match[2]), int(match[3])).isoformat()
    if match := _ISO_MONTH.fullmatch(words):
        return date(int(match[1]), int(match[2]), 1).isoformat()[:7]
    if match := _ISO_WEEK.fullmatch(words):
        return _week_of(date.fromisocalendar(int(match[1]), int(match[2]), 1))
    if match := _FULL_DAY.fullmatch(words):
        return _day_month(match, int(match["year"])).isoformat()
    if match := _FULL_MONTH.fullmatch(words):
        return f"{match['year']}-{_month_number(match['month']):02}"
    if match := _FULL_SEASON.fullmatch(words):
        return _season(match["season"], int(match["year"]))
    if (match := _AROUND_DAY.fullmatch(words)) and (iso := _one(match["rest"])):
        first, _ = span(iso)
        return _week_of(first) if match["unit"] == "week" else _weekend_of(first)
    return words if re.fullmatch(r"(?:1[5-9]|20|21)\d\d", words) else None


def _interval(words: str) -> str | None:
    ends = [_one(end) for end in re.split(r" ?/ ?| to | - | – |–| until ", words.removeprefix("from "), maxsplit=1)]
    if len(ends) == 2 and ends[0] and ends[1] and span(ends[0])[0] <= span(ends[1])[1]:
        return f"{ends[0]}/{ends[1]}"
    return None


# Relative expressions
_FUTURE = re.compile(r"\b(?:will|'ll|’ll|gonna|going to|plan(?:ning)? (?:to|on)|can't wait|looking forward)\b", re.I)
_LEAD = re.compile(r"^(?:(?:about|around|early|late|mid|back|in|on|of|for|since|until|by|during)[ -])+(?:the )?")
_PART = r"(?: (?:morning|afternoon|evening|night))?"
_COUNT = rf"(?P<exactly>exactly )?(?P<n>{_NUMBER}) (?P<unit>day|week|month|year)s?"
_AGO = re.compile(rf"{_COUNT} (?:ago|earlier|back)")
_AHEAD = re.compile(
    rf"in {_COUNT}(?:['’]? time)?|(?P<n2>{_NUMBER}) (?P<unit2>day|week|month|year)s? from (?:now|today)"
)
_WHICH_UNIT = re.compile(rf"(?:the )?{_WHICH} (?P<unit>weekend|week|month|year)")
_WHICH_NAME = re.compile(rf"(?:(?:the )?{_WHICH} )?(?P<name>{_WEEKDAY}|{_SEASON}|{_MONTH}){_PART}")
_NO_YEAR = re.compile(_DAY_MONTH)
_NEAR_DAYS = {
    **dict.fromkeys(("today", "tonight", "this morning", "this afternoon", "this evening"), 0),
    **dict.fromkeys(("yesterday", "yesterday morning", "yesterday afternoon", "last night", "yesterday evening"), -1),
    "the day before yesterday": -2,
    **dict.fromkeys(("tomorrow", "tomorrow morning", "tomorrow night"), 1),
    "the day after tomorrow": 2,
}
_EXPRESSIONS = (
    r"\d{4}-(?:\d\d-\d\d|\d\d|W\d\d)(?![-\d])",
    rf"the week(?:end)? of {_FULL_DAY.pattern}",
    rf"(?:on )?{_FULL_DAY.pattern}",
    _FULL_MONTH.pattern,
    _FULL_SEASON.pattern,
    "|".join(sorted(_NEAR_DAYS, key=len, reverse=True)),
    _AGO.pattern,
    _AHEAD.pattern,
    _WHICH_UNIT.pattern,
    rf"(?:the )?{_WHICH} (?:{_WEEKDAY}|{_SEASON}|{_MONTH})",
    rf"(?<!every )(?:on )?(?:{_WEEKDAY})(?!,? \d)",
    _DAY_MONTH,
    rf"(?:in|since|until|during|by) (?:early |late |mid-)?(?:the )?(?:{_MONTH}|{_SEASON})(?!,? \d)",
    r"(?:in|since|until|during|by|of|for) (?:early |late |mid-)?(?:19|20)\d\d",
)
_EXPRESSION = re.compile(rf"\b(?:{re.sub('[?]P<[a-z0-9]+>', '?:', '|'.join(_EXPRESSIONS))})\b", re.IGNORECASE)


def _counted(words: str, today: date) -> str | None:
    """ "two weeks ago", "in 3 months". Days and weeks are exact; months and years only where "exactly" is said."""
    if match := _AGO.fullmatch(words):
        unit, n, exactly = match["unit"], -_count(match["n"]), match["exactly"]
    elif match := _AHEAD.fullmatch(words):
        unit, n, exactly = match["unit"] or match["unit2"], _count(match["n"] or match["n2"]), match["exactly"]
    else:
        return None
    day: date = today + relativedelta(**{f"{unit}s": n})
    return day.isoformat()[: 10 if exactly else {"year": 4, "month": 7}.get(unit, 10)]


def _named(words: str, today: date, future: bool) -> str | None:
    """ "last week", "next June", "on Sunday", "5 July": the nearest one that the wording allows."""
    if match := _WHICH_UNIT.fullmatch(words):
        return _unit(match["unit"], _step(match["which"]), today)
    if match := _NO_YEAR.fullmatch(words):
        years = (today.year - 1, today.year, today.year + 1)
        return min((_day_month(match, year) for year in years), key=lambda day: abs(day - today)).isoformat()
    if not (match := _WHICH_NAME.fullmatch(words)):
        return None
    name, which = match["name"], match["which"]
    step = _step(which) if which else None
    if name in WEEKDAYS:
        return _weekday(WEEKDAYS.index(name), (1 if future else -1) if step is None else step, today)
    month = SEASONS.get(name) or _month_number(name)
    year = _year_of(month, step, today)
    return _season(name, year) if name in SEASONS else f"{year}-{month:02}"


def _step(which: str) -> int:
    """-1 for the one before, 0 for the present one, 1 for the one to come."""
    return {"this": 0, "next": 1, "coming": 1, "this coming": 1}.get(which, -1)


def _unit(unit: str, step: int, today: date) -> str:
    if unit == "year":
        return str(today.year + step)
    if unit == "month":
        month: date = today + relativedelta(months=step)
        return month.isoformat()[:7]
    day = today + timedelta(weeks=step)
    return _week_of(day) if unit == "week" else _weekend_of(day)


def _weekday(weekday: int, step: int, today: date) -> str:
    """The last one strictly before today (-1), the next one strictly after (1), or the first from today on (0)."""
    ahead = (weekday - today.weekday()) % 7
    days = {-1: ahead - 7, 0: ahead, 1: ahead or 7}[step]
    return (today + timedelta(days=days)).isoformat()


def _year_of(month: int, step: int | None, today: date) -> int:
    """The year of "last June" (before this month), "this June", "next June", or of the nearest June."""
    if step is None:
        return min((today.year - 1, today.year, today.year + 1), key=lambda year: abs(date(year, month, 15) - today))
    if step == 0:
        return today.year
    return today.year - (month >= today.month) if step == -1 else today.year + (month <= today.month)


def _day_month(match: re.Match[str], year: int) -> date:
    return date(year, _month_number(match["month"] or match["month2"]), int(match["day"] or match["day2"]))


def _month_number(name: str) -> int:
    return next(n for n, month in enumerate(MONTHS, 1) if month.startswith(name[:3]))


def _season(name: str, year: int) -> str:
    first = date(year, SEASONS[name], 1)
    return f"{first.isoformat()[:7]}/{(first + relativedelta(months=2)).isoformat()[:7]}"


def _week_of(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02}"


def _weekend_of(day: date) -> str:
    saturday = day + timedelta(days=5 - day.weekday())
    return f"{saturday.isoformat()}/{(saturday + timedelta(days=1)).isoformat()}"


def _count(words: str) -> int:
    return int(words) if words.isdigit() else NUMBERS[words]
