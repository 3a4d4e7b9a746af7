"""Limits count bytes as they are on disk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from restante.domain.errors import BadText, TooLarge
from restante.domain.limits import Limits, check_text


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
