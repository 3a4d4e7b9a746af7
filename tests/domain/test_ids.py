"""Ids: their form, their order, and how a person may shorten them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from restante.domain.errors import NoSuchMessage, NothingThere, UsageError
from restante.domain.ids import KINDS, compose, is_well_formed, resolve

AT = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)
LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"

kinds = st.sampled_from(KINDS)
instants = st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))
randomness = st.integers(0, (1 << 80) - 1)


def ulid_value(text: str) -> int:
    value = 0
    for letter in text.rpartition("_")[2]:
        value = value * 32 + LETTERS.index(letter)
    return value


@given(kind=kinds, at=instants, lot=randomness, is_one_of_many=st.booleans())
def test_an_id_holds_its_kind_second_millisecond_and_lot(
    kind: str, at: datetime, lot: int, is_one_of_many: bool
) -> None:
    made = compose(kind, at, lot, is_one_of_many=is_one_of_many)
    assert is_well_formed(made)
    assert is_well_formed(made, kind)
    assert made.startswith(f"{kind}_{at:%Y%m%dT%H%M%S}_")
    milliseconds = (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert (ulid_value(made) >> 80, ulid_value(made) & ((1 << 80) - 1)) == (milliseconds, lot)


@given(st.lists(st.tuples(instants, randomness), min_size=2, max_size=5))
def test_ids_of_one_kind_sort_as_their_milliseconds_and_lots(parts: list[tuple[datetime, int]]) -> None:
    whole = [(at.replace(microsecond=at.microsecond // 1000 * 1000), lot) for at, lot in parts]
    assert sorted(compose("msg", *one) for one in whole) == [compose("msg", *one) for one in sorted(whole)]


def test_an_id_of_the_published_form_is_well_formed_in_both_cases() -> None:
    for ulid in ("01krzx7zy0zzzzzzzzzzzzzzzz", "01KRZX7ZY0ZZZZZZZZZZZZZZZZ"):
        assert is_well_formed(f"msg_20260520T153000_{ulid}")
        assert not is_well_formed(f"msg_20260520T153000_{ulid}", "reply")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "msg_",
        "msg_20260520T153000_",
        "msg_20260520T153000_01krzx7zy0zzzzzzzzzzzzzzz",
        "msg_20260520T153000_01krzx7zy0zzzzzzzzzzzzzzzzz",
        "msg_20260520T153000_01krzx7zy0zzzzzzzzzzzzzzzi",
        "msg_20260520T153000_01krzx7zy0zzzzzzzzzzzzzzzu",
        "msg_2026052xT153000_01krzx7zy0zzzzzzzzzzzzzzzz",
        "msg_\u0662\u0660\u0662\u0666\u0660\u0665\u0662\u0660T153000_01krzx7zy0zzzzzzzzzzzzzzzz",
        "MSG_20260520T153000_01krzx7zy0zzzzzzzzzzzzzzzz",
        "note_20260520T153000_01krzx7zy0zzzzzzzzzzzzzzzz",
        "msg_20260520T153000_01krzx7zy0zzzzzzzzzzzzzzzz\n",
        " msg_20260520T153000_01krzx7zy0zzzzzzzzzzzzzzzz",
        "../msg_20260520T153000_01krzx7zy0zzzzzzzzzzzzzzzz",
    ],
)
def test_what_is_no_id_is_not_well_formed(text: str) -> None:
    assert not is_well_formed(text)


KNOWN = [compose("msg", AT + timedelta(hours=hour), 0xABCDEF << 56 | hour) for hour in range(3)]


def test_a_person_may_give_the_whole_id_its_beginning_or_its_end() -> None:
    for known in KNOWN:
        assert resolve(known, KNOWN) == known
        assert resolve(known.upper(), KNOWN) == known
        assert resolve(known[:-12], KNOWN) == known
    other = compose("msg", AT, 0x123456)
    assert resolve(other[-6:], [*KNOWN, other]) == other


def test_a_fragment_that_fits_several_names_them_all() -> None:
    with pytest.raises(NoSuchMessage) as caught:
        resolve("msg_2026", KNOWN)
    assert all(known in caught.value.message for known in KNOWN)


def test_a_fragment_that_fits_none_is_named() -> None:
    with pytest.raises(NoSuchMessage, match="zzzzzz"):
        resolve("zzzzzz", KNOWN)
    with pytest.raises(NoSuchMessage):
        resolve(KNOWN[0][3:-3], KNOWN)


def test_errors_call_what_was_looked_for_by_its_name() -> None:
    ask = {"what": "repeat", "remedy": "restante repeats list"}
    for fragment in ("zzzzzz", "msg_2026"):
        with pytest.raises(NothingThere, match="repeat") as caught:
            resolve(fragment, KNOWN, **ask)
        assert not isinstance(caught.value, NoSuchMessage)
        assert "message" not in caught.value.message
    with pytest.raises(UsageError, match="repeat"):
        resolve("z", KNOWN, **ask)
    with pytest.raises(NothingThere) as caught:
        resolve("zzzzzz", KNOWN, **ask)
    assert caught.value.remedy == "restante repeats list"


def test_a_fragment_too_short_to_mean_anything_is_refused() -> None:
    for fragment in ("", "m", KNOWN[0][-5:]):
        with pytest.raises(UsageError, match="too short"):
            resolve(fragment, KNOWN)


def test_a_short_text_that_is_a_whole_known_id_is_that_id() -> None:
    assert resolve("abc", ["abc", "abcdef"]) == "abc"
