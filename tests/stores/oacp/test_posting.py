"""Sending: proven before it is written, in every inbox and the outbox or nowhere, in threads that hold."""

from __future__ import annotations

import os
import re
import stat
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oacp import AT, names_in, send

from restante.domain.errors import NothingThere, Refused, StorageFailed, Unsafe, UsageError
from restante.stores.oacp.archive import archive
from restante.stores.oacp.delivering import deliver, mend
from restante.stores.oacp.posting import Letter, parse_expiry, prepare, second_text
from restante.stores.oacp.reading import read_fields
from restante.stores.oacp.threads import find_message
from restante.stores.oacp.trailer import split_trailer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from restante.stores.oacp.layout import Tree


def _raw(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _fields(path: str) -> dict[str, object]:
    return read_fields(_raw(path))


def _everything(tree: Tree) -> Iterator[str]:
    return (os.path.join(place, name) for place, _, names in os.walk(tree.home) for name in names)


def test_a_message_stands_in_inbox_and_outbox_under_one_name(tree: Tree) -> None:
    sent = send(tree, "bob")
    assert _raw(sent.inboxes[0]) == _raw(sent.outbox)
    assert os.stat(sent.inboxes[0]).st_ino != os.stat(sent.outbox).st_ino
    name = os.path.basename(sent.outbox)
    assert re.fullmatch(r"20260520153000_alice_question_[0-9a-f]{16}\.yaml", name)
    fields = _fields(sent.outbox)
    assert re.fullmatch(r"msg-20260520153000-alice-[0-9a-f]{16}", str(fields["id"]))
    assert re.fullmatch(r"conv-20260520-alice-[0-9a-f]{12}-[0-9]{6}", str(fields["conversation_id"]))
    assert os.listdir(tree.path("projects", "demo", "state", "restante", ".sending")) == []
    assert not [one for one in _everything(tree) if ".tmp-" in one]


def test_a_broadcast_has_one_name_everywhere_and_names_all(tree: Tree) -> None:
    sent = send(tree, "bob", "carol", suffix="all")
    assert {os.path.basename(one) for one in (*sent.inboxes, sent.outbox)} == names_in(tree, "alice", "outbox")
    assert sent.outbox.endswith("_all.yaml")
    assert _fields(sent.inboxes[1])["to"] == ["bob", "carol"]


def test_everything_a_letter_says_arrives(tree: Tree) -> None:
    said: dict[str, Any] = {
        "priority": "P0",
        "channel": "ops",
        "autonomy_hint": "auto_proceed",
        "related_packet": "a/b: c",
        "related_pr": "12",
        "conversation": "conv-20260101-bob-1",
        "parent": "msg-x",
        "context_keys": "one\ntwo",
    }
    fields = _fields(send(tree, "bob", expires=AT + timedelta(days=1), **said).inboxes[0])
    names = {"conversation": "conversation_id", "parent": "parent_message_id"}
    assert {names.get(name, name): value for name, value in said.items()}.items() <= fields.items()
    assert fields["expires_at"] == "2026-05-21T15:30:00Z"


def test_what_is_created_is_its_owners_alone_unless_the_tree_is_shared(tree: Tree) -> None:
    sent = send(tree, "bob")
    assert {stat.S_IMODE(os.stat(one).st_mode) for one in (*sent.inboxes, sent.outbox)} == {0o600}
    os.chmod(os.path.dirname(sent.inboxes[0]), 0o775)
    shared = send(tree, "bob")
    assert stat.S_IMODE(os.stat(shared.inboxes[0]).st_mode) == 0o664
    assert stat.S_IMODE(os.stat(shared.outbox).st_mode) == 0o600


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ({"body": ""}, Refused),
        ({"body": " \n"}, Refused),
        ({"body": "x" * 20_001}, Refused),
        ({"subject": "s" * 201}, Refused),
        ({"priority": "P9"}, Refused),
        ({"related_pr": "x"}, Refused),
        ({"conversation": "mine"}, Refused),
        ({"to": ("alice", "bob")}, Refused),
        ({"to": ("bob", "carol"), "type": "handoff"}, Refused),
        ({"to": ()}, UsageError),
        ({"to": ("",)}, UsageError),
        ({"to": ("../bob",)}, UsageError),
        ({"type": "gossip"}, UsageError),
        ({"suffix": "../x"}, UsageError),
        ({"body": "\ud800"}, UsageError),
    ],
)
def test_what_the_format_cannot_hold_is_refused_before_anything_is_written(
    tree: Tree, words: dict[str, object], error: type[Exception]
) -> None:
    before = sorted(_everything(tree))
    letter = Letter("alice", ("bob",), "question", "s", "b")
    with pytest.raises(error):
        deliver(tree, prepare(tree, "demo", Letter(**{**letter._asdict(), **words}), now=AT))
    assert sorted(_everything(tree)) == before


def test_a_body_of_exactly_the_most_characters_arrives(tree: Tree) -> None:
    body = "\u00e9" * 20_000
    assert _fields(send(tree, "bob", body=body).inboxes[0])["body"] == body


@given(body=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(str.strip))
def test_any_text_is_proven_to_arrive(tree_once: Tree, body: str) -> None:
    letter = Letter("alice", ("bob",), "question", "s", body)
    assert read_fields(prepare(tree_once, "demo", letter, now=AT).raw)["body"] == body


@pytest.fixture(scope="module")
def tree_once(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    from tests.oacp import make_tree

    from restante.stores.oacp.layout import Tree

    home = tmp_path_factory.mktemp("home")
    make_tree(home, "demo", "alice", "bob")
    return Tree(str(home))


def test_a_signature_covers_the_bytes_that_were_proven(tree: Tree) -> None:
    signed: list[bytes] = []

    def sign(raw: bytes) -> bytes:
        signed.append(raw)
        return raw + b'auth: "abc"\n'

    letter = Letter("alice", ("bob",), "question", "s", "b")
    sent = deliver(tree, prepare(tree, "demo", letter, now=AT, sign=sign))
    trailer = split_trailer(_raw(sent.inboxes[0]))
    assert (trailer.state, trailer.value, trailer.prefix) == ("ok", "abc", signed[0])


@pytest.mark.parametrize(("text", "seconds"), [("0m", 0), ("5m", 300), ("2h", 7200), ("7d", 604_800)])
def test_a_time_to_live_is_minutes_hours_or_days(text: str, seconds: int) -> None:
    assert parse_expiry(text, AT) - AT == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "m", "5", "5s", "-5m", "1.5h", "5 m", "\u0665m", "99999999999d", "9" * 400 + "d"])
def test_any_other_time_to_live_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_expiry(text, AT)


def test_a_begun_second_is_written_as_the_next_one() -> None:
    assert second_text(AT + timedelta(milliseconds=1)) == "2026-05-20T15:30:01Z"


@pytest.mark.parametrize("place", ["inbox", "outbox", "archive"])
def test_an_answer_goes_on_with_its_parents_conversation(tree: Tree, place: str) -> None:
    sent = send(tree, "bob")
    path = sent.inboxes[0]
    parent = _fields(path)
    answerer = "alice" if place == "outbox" else "bob"
    if place == "archive":
        import hashlib

        archive(path, hashlib.sha256(_raw(path)).hexdigest())
        assert names_in(tree, "bob") == set()
    answer = send(tree, "carol", sender=answerer, parent=str(parent["id"]), inherits=True)
    assert _fields(answer.inboxes[0])["conversation_id"] == parent["conversation_id"]


def test_an_answer_to_nothing_known_begins_a_conversation_and_says_so(tree: Tree) -> None:
    letter = Letter("alice", ("bob",), "question", "s", "b", parent="msg-gone", inherits=True)
    prepared = prepare(tree, "demo", letter, now=AT)
    assert "msg-gone" in prepared.warnings[0]
    assert str(prepared.fields["conversation_id"]).startswith("conv-20260520-alice-")
    only_named = prepare(tree, "demo", letter._replace(inherits=False), now=AT)
    assert (only_named.fields["conversation_id"], only_named.warnings) == ("", ())


def test_a_parent_that_may_not_be_believed_gives_no_conversation(tree: Tree) -> None:
    parent = str(_fields(send(tree, "bob").inboxes[0])["id"])
    assert find_message(tree, "demo", "bob", parent)
    assert find_message(tree, "demo", "bob", parent, accept=lambda _: False) is None
    assert find_message(tree, "demo", "alice", parent, accept=lambda _: False)


def test_a_broken_inbox_leaves_nothing_anywhere(tree: Tree) -> None:
    os.rmdir(tree.path("projects", "demo", "agents", "carol", "inbox", "archive"))
    os.rmdir(tree.path("projects", "demo", "agents", "carol", "inbox"))
    with pytest.raises(NothingThere):
        send(tree, "bob", "carol")
    assert names_in(tree, "bob") == names_in(tree, "alice", "outbox") == set()
    assert not [one for one in _everything(tree) if "20260520" in one]


def test_an_outbox_that_is_a_link_leaves_nothing_anywhere(tree: Tree) -> None:
    outbox = tree.path("projects", "demo", "agents", "alice", "outbox")
    os.rename(outbox, f"{outbox}.real")
    os.symlink(f"{outbox}.real", outbox)
    with pytest.raises(Unsafe):
        send(tree, "bob")
    assert names_in(tree, "bob") == names_in(tree, "alice", "outbox.real") == set()


def test_what_is_noted_and_fails_takes_the_message_back(tree: Tree) -> None:
    def fail() -> None:
        raise StorageFailed("full")

    prepared = prepare(tree, "demo", Letter("alice", ("bob",), "question", "s", "b"), now=AT)
    with pytest.raises(StorageFailed):
        deliver(tree, prepared, commit=fail)
    assert mend(tree, "demo") == 0
    assert names_in(tree, "bob") == names_in(tree, "alice", "outbox") == set()


def test_a_person_without_a_place_in_the_tree_may_send(tree: Tree) -> None:
    sent = send(tree, "bob", sender="human")
    assert (len(sent.inboxes), sent.outbox) == (1, "")
    assert "human" not in tree.agents("demo")


def _leave_intent(tree: Tree, *served: str) -> str:
    """Leave what a sender that was killed after it had served some leaves."""
    sent = send(tree, "bob", "carol")
    name = os.path.basename(sent.outbox)
    sending = tree.path("projects", "demo", "state", "restante", ".sending", name)
    os.rename(sent.outbox, sending)
    for agent, path in zip(("bob", "carol"), sent.inboxes, strict=True):
        if agent not in served:
            os.rename(path, os.path.join(os.path.dirname(path), f".{name}.tmp-1-abc"))
    return name


@pytest.mark.parametrize("served", [(), ("bob",), ("bob", "carol")])
def test_the_next_sender_finishes_what_a_killed_one_began(tree: Tree, served: tuple[str, ...]) -> None:
    name = _leave_intent(tree, *served)
    send(tree, "bob", at=AT + timedelta(seconds=1))
    everywhere = [
        names_in(tree, agent, place) for agent, place in (("bob", "inbox"), ("carol", "inbox"), ("alice", "outbox"))
    ]
    assert [name in one for one in everywhere] == [bool(served)] * 3
    assert not [one for one in _everything(tree) if ".tmp-" in one]


def test_who_is_done_with_a_message_does_not_get_it_again(tree: Tree) -> None:
    name = _leave_intent(tree, "bob", "carol")
    os.unlink(tree.path("projects", "demo", "agents", "bob", "inbox", name))
    assert mend(tree, "demo") == 1
    assert name not in names_in(tree, "bob")
    assert name in names_in(tree, "alice", "outbox")
