"""Messages are values; words of closed lists are never guessed."""

from __future__ import annotations

import pytest

from restante.domain.errors import UsageError
from restante.domain.message import Draft, Message, Priority, Scope, Sender, choose
from restante.testing import make_draft, make_message


def test_a_message_has_every_attribute_of_its_draft_with_the_same_default() -> None:
    for name in Draft._fields:
        assert name in Message._fields
        assert Message._field_defaults.get(name, "") == Draft._field_defaults.get(name, "")
        assert Message.__annotations__[name] == Draft.__annotations__[name]


def test_messages_cannot_be_changed_and_compare_by_value() -> None:
    message = make_message("text")
    with pytest.raises(AttributeError):
        message.body = "other"  # type: ignore[misc]
    assert message == make_message("text")
    assert len({message, make_message("text"), make_message("other")}) == 2


def test_nothing_is_verified_unless_it_is_said() -> None:
    assert make_draft().sender == Sender("human", verified=False)


@pytest.mark.parametrize(
    ("sender", "label"),
    [
        (Sender(), "human"),
        (Sender("human", verified=True), "human"),
        (Sender("reviewer", verified=True), "reviewer"),
        (Sender("reviewer"), "reviewer (unverified)"),
        (Sender("Human"), "Human (unverified)"),
        (Sender("human "), "human  (unverified)"),
        (Sender(""), " (unverified)"),
    ],
)
def test_a_senders_label_says_what_was_not_proven(sender: Sender, label: str) -> None:
    assert sender.label == label


def test_the_most_urgent_sorts_first() -> None:
    assert sorted(Priority, key=lambda one: one.rank) == [Priority.HIGH, Priority.NORMAL, Priority.LOW]


@pytest.mark.parametrize("kind", [Priority, Scope])
def test_a_word_of_the_list_is_read(kind: type[Priority | Scope]) -> None:
    for one in kind:
        assert choose(kind, one.value, what="word") is one


@pytest.mark.parametrize("text", ["urgent", "", "HIGH", "high ", "high\n"])
def test_a_word_that_is_not_in_the_list_is_refused_with_the_list(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        choose(Priority, text, what="priority")
    assert repr(text) in caught.value.message
    assert all(one.value in caught.value.remedy for one in Priority)
