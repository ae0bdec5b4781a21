from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimem import times

SAID = datetime(2023, 5, 25, 10, 31)  # a Thursday


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("8 May, 2023", "2023-05-08"),
        ("May 8th, 2023", "2023-05-08"),
        ("Saturday, 6 May 2023", "2023-05-06"),
        ("3rd of September 2021", "2021-09-03"),
        ("1:56 pm on 8 May, 2023", "2023-05-08"),
        ("8 May 2023, 1:56 pm", "2023-05-08"),
        ("2023-05-07T13:30:00", "2023-05-07"),
        ("May 2023", "2023-05"),
        ("Sept. 2022", "2022-09"),
        ("2023", "2023"),
        ("2023-w09", "2023-W09"),
        ("the week of 26 December 2022", "2022-W52"),
        ("the weekend of 6 May 2023", "2023-05-06/2023-05-07"),
        ("summer 2022", "2022-06/2022-08"),
        ("winter 2022", "2022-12/2023-02"),
        ("6 May 2023 to 9 May 2023", "2023-05-06/2023-05-09"),
        ("2019/2021-03", "2019/2021-03"),
    ],
)
def test_absolute_times_keep_their_precision(text: str, iso: str) -> None:
    assert times.normalise(text) == iso


@pytest.mark.parametrize(
    "text",
    ["last Tuesday", "2023-13-45", "31 June 2023", "03/04/2023", "2023-W60", "", "soon", "12", "May", "2023/2019", "/"],
)
def test_what_is_no_one_absolute_time_is_none(text: str) -> None:
    assert times.normalise(text) is None


@given(st.text(alphabet="0123456789-/W May2023to,", max_size=24))
def test_whatever_is_normalised_has_a_span_and_stays_as_it_is(text: str) -> None:
    iso = times.normalise(text)
    if iso is not None:
        first, last = times.span(iso)
        assert first <= last
        assert times.normalise(iso) == iso


@given(st.dates(date(1900, 1, 1), date(2098, 12, 31)), st.sampled_from(["day", "month", "year", "week", "weekend"]))
def test_said_and_read_again_is_the_same_time(day: date, unit: str) -> None:
    phrase = {"day": "today", "month": "this month"}.get(unit, f"this {unit}")
    iso = times.resolve(phrase, datetime(day.year, day.month, day.day))
    assert iso is not None
    assert times.normalise(times.say(iso)) == iso
    if unit != "weekend":
        assert times.span(iso)[0] <= day <= times.span(iso)[1]


@pytest.mark.parametrize(
    ("iso", "first", "last", "words"),
    [
        ("2024-02-29", "2024-02-29", "2024-02-29", "29 February 2024"),
        ("2023-02", "2023-02-01", "2023-02-28", "February 2023"),
        ("2022", "2022-01-01", "2022-12-31", "2022"),
        ("2022-W52", "2022-12-26", "2023-01-01", "the week of 26 December 2022"),
        ("2023-05-06/2023-05-07", "2023-05-06", "2023-05-07", "the weekend of 6 May 2023"),
        ("2023-05-07/2023-05-09", "2023-05-07", "2023-05-09", "7 May 2023 to 9 May 2023"),
        ("2022-12/2023-02", "2022-12-01", "2023-02-28", "winter 2022"),
        ("2019/2021-03", "2019-01-01", "2021-03-31", "2019 to March 2021"),
    ],
)
def test_span_and_words(iso: str, first: str, last: str, words: str) -> None:
    assert times.span(iso) == (date.fromisoformat(first), date.fromisoformat(last))
    assert times.say(iso) == words


@pytest.mark.parametrize("text", ["last Tuesday", "2023-1", "", "2023-05-7", "2023-13"])
def test_span_refuses_what_is_not_normalised(text: str) -> None:
    with pytest.raises(ValueError):
        times.span(text)


@pytest.mark.parametrize(
    ("phrase", "iso"),
    [
        ("yesterday", "2023-05-24"),
        ("the day before yesterday", "2023-05-23"),
        ("tomorrow", "2023-05-26"),
        ("last Saturday", "2023-05-20"),
        ("last Thursday", "2023-05-18"),
        ("next Thursday", "2023-06-01"),
        ("this Thursday", "2023-05-25"),
        ("two weeks ago", "2023-05-11"),
        ("10 days ago", "2023-05-15"),
        ("three months ago", "2023-02"),
        ("exactly three months ago", "2023-02-25"),
        ("4 years ago", "2019"),
        ("in two months", "2023-07"),
        ("five days from now", "2023-05-30"),
        ("last week", "2023-W20"),
        ("this past week", "2023-W20"),
        ("next month", "2023-06"),
        ("last year", "2022"),
        ("last weekend", "2023-05-20/2023-05-21"),
        ("this weekend", "2023-05-27/2023-05-28"),
        ("last June", "2022-06"),
        ("next June", "2023-06"),
        ("in January", "2023-01"),
        ("in December", "2022-12"),
        ("last winter", "2022-12/2023-02"),
        ("next summer", "2023-06/2023-08"),
        ("5 July", "2023-07-05"),
        ("December 30th", "2022-12-30"),
        ("in 2019", "2019"),
        ("since May 2021", "2021-05"),
    ],
)
def test_relative_times_count_from_the_session_with_their_granularity(phrase: str, iso: str) -> None:
    assert times.resolve(phrase, SAID) == iso


@pytest.mark.parametrize(
    "phrase", ["a few days ago", "recently", "the other day", "30 February", "soon", "999 years ago"]
)
def test_vague_and_impossible_phrases_give_no_time(phrase: str) -> None:
    assert times.resolve(phrase, SAID) in (None, "1024")


def test_a_bare_weekday_lies_ahead_when_the_sentence_speaks_of_the_future() -> None:
    assert times.find("We hiked on Sunday.", SAID) == [("on Sunday", "2023-05-21")]
    assert times.find("I'll hike on Sunday.", SAID) == [("on Sunday", "2023-05-28")]


def test_all_times_of_a_sentence_in_order() -> None:
    text = "Last year I moved, and on 3 June 2021 I sold the boat; I row every Sunday and may march again."
    assert times.find(text, SAID) == [("Last year", "2022"), ("on 3 June 2021", "2021-06-03")]


def test_a_written_year_is_never_overruled_by_the_session() -> None:
    text = "in May 2021, on Sunday, 6 June 2021, in early May 2020"
    assert [iso for _, iso in times.find(text, SAID)] == ["2021-05", "2021-06-06", "2020-05"]


def test_without_a_session_time_only_absolute_times_are_found() -> None:
    assert times.find("Yesterday, in May 2021 and last week.", None) == [("May 2021", "2021-05")]


@given(st.text(max_size=40), st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)))
def test_no_text_and_no_session_time_raises(text: str, said: datetime) -> None:
    for phrase in (text, f"{text} last week", f"in 900 years {text}", "tomorrow"):
        times.find(phrase, said)
