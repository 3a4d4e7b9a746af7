"""The targets of fuzzing, driven by hypothesis and by a plain mutator; ``make fuzz`` drives them by coverage."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.seeds import mutated, seeds
from tests.fuzz.targets import TARGETS

EACH = pytest.mark.parametrize("name", TARGETS)
ROUNDS = [60, pytest.param(1_500, marks=pytest.mark.slow)]


@EACH
def test_what_fuzzing_begins_with_is_taken(name: str) -> None:
    for raw in seeds(name):
        TARGETS[name](raw)


@EACH
@given(raw=st.one_of(st.binary(max_size=300), st.text(max_size=300).map(lambda text: text.encode())))
def test_any_bytes_are_taken(name: str, raw: bytes) -> None:
    TARGETS[name](raw)


@EACH
@pytest.mark.parametrize("rounds", ROUNDS)
def test_changed_fixtures_are_taken(name: str, rounds: int) -> None:
    number = random.randrange(2**32)
    dice, known = random.Random(number), seeds(name)
    # A whole evaluation takes thirty times as long as any of the readers.
    for turn in range(min(rounds, 400) if name == "gate" else rounds):
        raw = mutated(dice.choice(known), dice.choice(known), dice)
        try:
            TARGETS[name](raw)
        except Exception as error:
            raise AssertionError(f"turn {turn} of dice {number}: {raw!r}") from error
