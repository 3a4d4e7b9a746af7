"""Limits count bytes as they are on disk."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from restante.domain.errors import BadText, TooLarge, UsageError
from restante.domain.limits import Limits, check_head, check_text
from restante.domain.message import Draft, Sender


@given(text=st.text(st.characters(exclude_categories=["Cs"])), limit=st.integers(0, 40))
def test_a_text_is_taken_exactly_up_to_its_limit(text: str, limit: int) -> None:
    size = len(text.encode())
    if size <= limit:
        assert check_text(text, Limits(message_bytes=limit)) == size
    else:
        with pytest.raises(TooLarge) as caught:
            check_text(text, Limits(message_bytes=limit))
        assert f"{size:,}" in caught.value.message
        assert f"{limit:,}" in caught.value.message


@given(before=st.text(st.characters(exclude_categories=["Cs"]), max_size=5), bad=st.integers(0xD800, 0xDFFF))
def test_a_lone_surrogate_is_refused_with_its_place(before: str, bad: int) -> None:
    with pytest.raises(BadText) as caught:
        check_text(before + chr(bad), Limits())
    assert f"character {len(before)} " in caught.value.message
    assert f"U+{bad:04X}" in caught.value.message
    assert caught.value.message.isprintable()


def test_bad_text_is_told_before_its_size() -> None:
    with pytest.raises(BadText):
        check_text("x" * 100 + "\ud800", Limits(message_bytes=10))


def test_what_is_too_large_is_called_by_its_name() -> None:
    with pytest.raises(TooLarge, match="reply has 2 bytes"):
        check_text("xx", Limits(message_bytes=1), what="reply")


@pytest.mark.parametrize("name", ["subject", "type", "conversation", "parent", "client_id"])
@pytest.mark.parametrize("line", ["a\nb", "a\r", "\n"])
def test_a_line_of_a_head_is_one_line(name: str, line: str) -> None:
    with pytest.raises(UsageError, match=name):
        check_head(Draft("text", **{name: line}), Limits())  # type: ignore[arg-type]


def test_a_head_is_text_and_its_expiry_has_a_zone() -> None:
    check_head(Draft("text", subject="\u2028 is odd", expires=datetime(2026, 1, 1, tzinfo=UTC)), Limits())
    with pytest.raises(BadText):
        check_head(Draft("text", sender=Sender("\ud800")), Limits())
    with pytest.raises(UsageError, match="zone"):
        check_head(Draft("text", expires=datetime(2026, 1, 1)), Limits())
