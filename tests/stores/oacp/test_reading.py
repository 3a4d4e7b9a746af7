"""YAML from anybody is bounded before a value is built, and read as text."""

from __future__ import annotations

import pytest

from restante.stores.oacp.reading import MOST_BYTES, NotYaml, read_fields, read_typed


@pytest.mark.parametrize("raw", [b"a: " + b"[" * 20_000, b"[" * 40_000, b"a: " + b"{a: " * 30_000])
def test_bl01_deep_nesting_is_an_error_and_no_crash(raw: bytes) -> None:
    for read in (read_fields, read_typed):
        with pytest.raises(NotYaml, match=r"nesting|parse"):
            read(raw)


def test_aliases_cannot_make_a_few_bytes_stand_for_many() -> None:
    with pytest.raises(NotYaml, match="alias"):
        read_fields(b"a: &x [1]\nb: [*x, *x]\n")


def test_scalars_stay_the_text_that_stands_there() -> None:
    assert read_fields(b"a: yes\nb: 12\nc: ~\nd: 2026-01-01\ne: [1, {f: on}]\n") == {
        "a": "yes",
        "b": "12",
        "c": "~",
        "d": "2026-01-01",
        "e": ["1", {"f": "on"}],
    }


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"- a\n", "top-level YAML must be a mapping"),
        (b"a: 1\n---\nb: 2\n", "more than one document"),
        (b"a: \xff\n", "utf-8"),
        (b"a: {b", "YAML parse error"),
        (b"? [a]\n: b\n", "key is not text"),
        (b"a" * (MOST_BYTES + 1), "bytes"),
    ],
)
def test_what_is_no_message_is_told_with_its_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(NotYaml, match=reason):
        read_fields(raw)


def test_an_empty_file_has_no_fields() -> None:
    assert read_fields(b"") == {}


def test_a_number_that_takes_minutes_to_read_is_none() -> None:
    # To the base of 60, which takes time with the square of its length; as text it stays what it is.
    long = "1" + ":0" * 200_000
    for value in (long, f"-{long}", f"{long}.5", f'!!int "{long}"', f"!!float '{long}'"):
        with pytest.raises(NotYaml, match="number"):
            read_typed(f"task_profile:\n  estimated_minutes: {value}\n".encode())
    assert read_typed(f'body: "{long}"\n'.encode()) == {"body": long}
    assert read_typed(b"a: 1:30\n") == {"a": 90}
