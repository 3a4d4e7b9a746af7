from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from restante.domain.duration import format_duration, parse_duration
from restante.domain.errors import UsageError

_MS = st.integers(min_value=0, max_value=3650 * 86_400_000)


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("30s", 30_000),
        ("5m", 300_000),
        ("5", 300_000),
        ("0.5", 30_000),
        ("1.5h", 5_400_000),
        ("1d", 86_400_000),
        ("2W", 1_209_600_000),
        ("250ms", 250),
        ("250MS", 250),
        ("0.1s", 100),
        ("1h30m", 5_400_000),
        ("1d2h3m4s5ms", 93_784_005),
        (" 7s ", 7000),
        ("0", 0),
        ("1.2345s", 1235),
    ],
)
def test_a_length_of_time_is_read_as_people_write_it(text: str, milliseconds: int) -> None:
    assert parse_duration(text) == timedelta(milliseconds=milliseconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "s",
        "5x",
        "-5s",
        "+5s",
        "1,5h",
        "1e3s",
        "5 m",
        "5m 30s",
        "30m1h",
        "5m5m",
        "5m5",
        "٥m",
        "1.h",
        ".5h",
        "nan",
        "inf",
    ],
)
def test_anything_else_is_refused_by_name(text: str) -> None:
    with pytest.raises(UsageError, match="is not a wait") as refused:
        parse_duration(text, what="wait")
    assert repr(text) in refused.value.message
    assert refused.value.remedy


@pytest.mark.parametrize("text", ["3651d", "999999999999999w", "87601h"])
def test_more_than_ten_years_is_refused_so_that_adding_it_stays_in_the_calendar(text: str) -> None:
    with pytest.raises(UsageError, match="ten years"):
        parse_duration(text)


@given(_MS)
def test_what_is_written_reads_back_as_the_same_length(milliseconds: int) -> None:
    length = timedelta(milliseconds=milliseconds)
    assert parse_duration(format_duration(length)) == length


@given(_MS, st.sampled_from(["ms", "s", "m", "h", "d", "w"]))
def test_units_scale_exactly(number: int, unit: str) -> None:
    size = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}[unit]
    count = number // size
    assert parse_duration(f"{count}{unit}") == timedelta(milliseconds=count * size)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        length = parse_duration(text)
    except UsageError:
        return
    assert timedelta(0) <= length <= timedelta(days=3650)


def test_the_written_form_uses_the_largest_unit_that_is_exact() -> None:
    written = [
        format_duration(timedelta(milliseconds=ms)) for ms in (0, 1500, 5000, 90_000, 300_000, 7_200_000, 172_800_000)
    ]
    assert written == ["0s", "1500ms", "5s", "90s", "5m", "2h", "2d"]
