"""Defects of the original that were reproduced (section 11 of its specification): for each, that ours has none."""

from __future__ import annotations

import hashlib
import os
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.oacp import AT, make_tree, names_in, send

from restante.domain.errors import NothingThere, StorageFailed, UsageError
from restante.stores.oacp.archive import archive, archive_message
from restante.stores.oacp.delivering import deliver
from restante.stores.oacp.index import list_inbox
from restante.stores.oacp.posting import Letter, parse_expiry, prepare
from restante.stores.oacp.reading import read_typed, read_yaml
from restante.stores.oacp.watching import Watch

if TYPE_CHECKING:
    from pathlib import Path

    from restante.stores.oacp.layout import Tree

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def test_11_1_1_no_message_replaces_another_and_ids_are_all_different(tree: Tree) -> None:
    sent = [send(tree, "bob", at=AT) for _ in range(300)]
    listed = list_inbox(tree, "demo", "bob")
    assert len({one.name for one in listed}) == len({one.id for one in listed}) == len(sent)


def test_11_1_1_a_name_that_is_taken_is_an_error_and_never_replaced(tree: Tree) -> None:
    letter = Letter("alice", ("bob", "carol"), "question", "s", "b")
    first = prepare(tree, "demo", letter, now=AT, random=bytes)
    second = prepare(tree, "demo", letter._replace(body="other"), now=AT, random=bytes)
    assert first.name == second.name
    path = deliver(tree, first).inboxes[0]
    os.unlink(tree.path("projects", "demo", "agents", "carol", "inbox", first.name))
    with pytest.raises(StorageFailed):
        deliver(tree, second._replace(fields={**second.fields, "to": ["carol", "bob"]}))
    with open(path, "rb") as file:
        assert file.read() == first.raw
    assert names_in(tree, "carol") == set()


@pytest.mark.parametrize(("project", "to"), [("dmeo", "bob"), ("demo", "bbo")])
def test_11_1_2_a_typing_error_makes_no_phantom_and_is_told(tree: Tree, project: str, to: str) -> None:
    before = sorted(place for place, _, _ in os.walk(tree.home))
    with pytest.raises(NothingThere) as error:
        prepare(tree, project, Letter("alice", (to,), "question", "s", "b"), now=AT)
    assert {"demo", "bob"} & set(error.value.remedy.replace("?", "").split())
    assert sorted(place for place, _, _ in os.walk(tree.home)) == before


@pytest.mark.parametrize("broken", ["outbox", "inbox"])
def test_11_1_3_inbox_and_outbox_hold_a_message_both_or_neither(tree: Tree, broken: str) -> None:
    place = tree.path("projects", "demo", "agents", "alice" if broken == "outbox" else "carol", broken)
    os.rename(place, f"{place}.away")
    with open(place, "xb"):
        pass
    with pytest.raises(StorageFailed):
        send(tree, "bob", "carol")
    os.unlink(place)
    os.rename(f"{place}.away", place)
    assert names_in(tree, "bob") == names_in(tree, "carol") == names_in(tree, "alice", "outbox") == set()


def test_11_1_4_what_a_dead_watcher_did_not_print_is_not_lost(tree: Tree) -> None:
    send(tree, "bob")

    def die(_: dict[str, Any]) -> None:
        raise KeyboardInterrupt

    told: list[dict[str, Any]] = []
    with pytest.raises(KeyboardInterrupt):
        Watch(tree, "demo", "bob", state_id="s").once(die, since=EPOCH)
    Watch(tree, "demo", "bob", state_id="s").once(told.append, since=EPOCH)
    assert len(told) == 1


def test_11_1_5_files_that_are_archived_while_they_are_listed_are_no_error(tree: Tree) -> None:
    for place in range(60):
        send(tree, "bob", at=AT + timedelta(seconds=place))
    names = sorted(names_in(tree, "bob"))

    def move() -> None:
        for name in names:
            with open(tree.path("projects", "demo", "agents", "bob", "inbox", name), "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()
            archive_message(tree, "demo", "bob", name, digest)

    mover = threading.Thread(target=move)
    mover.start()
    while mover.is_alive():
        assert not [one for one in list_inbox(tree, "demo", "bob") if one.error]
    mover.join()
    assert list_inbox(tree, "demo", "bob") == []
    assert sorted(names_in(tree, "bob", "inbox/archive")) == names


def test_11_1_6_one_bad_file_is_told_once_and_does_not_hide_the_rest(tree: Tree) -> None:
    with open(tree.path("projects", "demo", "agents", "bob", "inbox", "1_x_y.yaml"), "w", encoding="utf-8") as file:
        file.write("{x: [")
    rounds: list[list[str]] = []
    for _ in range(3):
        send(tree, "bob")
        told: list[dict[str, Any]] = []
        Watch(tree, "demo", "bob").once(told.append, since=EPOCH)
        rounds.append([one["event"] for one in told])
    assert rounds == [["error", "new_message"], ["new_message"], ["new_message"]]


def test_11_1_7_an_answer_after_archiving_keeps_the_thread(tree: Tree) -> None:
    path = send(tree, "bob").inboxes[0]
    with open(path, "rb") as file:
        raw = file.read()
    archive(path, hashlib.sha256(raw).hexdigest())
    fields = read_yaml(raw)
    letter = Letter("bob", ("alice",), "notification", "Re", "done", parent=str(fields["id"]), inherits=True)
    answer = prepare(tree, "demo", letter, now=AT)
    assert (answer.fields["conversation_id"], answer.warnings) == (fields["conversation_id"], ())


@pytest.mark.parametrize(
    "body",
    [
        "    indented first line\nsecond",
        "\tcode\n\tmore",
        "a\tb",
        "a\rb",
        "nel \x85 ls \u2028 ps \u2029",
        "\x1b[31m",
        "nul \0",
        "!important",
        "line\r\nline\r\n",
        "no newline at the end\nof it",
        "two at the end\n\n",
        "\n\nleading",
        "trailing  \n  \n",
        "- item\n# heading\n---\n...",
        "yes",
        "123",
        "2026-01-01",
        "key: value # comment",
        "\ufeffbom",
        "\U0001f600 \ufffe",
        "{{ x }}",
        "'single' \"double\" \\back",
    ],
)
def test_11_2_what_is_sent_is_what_every_reader_of_yaml_gets(tree: Tree, body: str) -> None:
    path = send(tree, "bob", body=body, subject="!important: yes").inboxes[0]
    with open(path, "rb") as file:
        raw = file.read()
    for fields in (read_yaml(raw), read_typed(raw)):
        assert isinstance(fields, dict)
        assert (fields["body"], fields["subject"]) == (body, "!important: yes")


def test_11_2_a_lone_surrogate_is_refused_before_anything_is_written(tree: Tree) -> None:
    for words in ({"body": "\udcff"}, {"subject": "\ud800"}):
        with pytest.raises(UsageError):
            send(tree, "bob", **words)  # type: ignore[arg-type]
    assert names_in(tree, "bob") == set()


def test_11_3_4_nothing_is_written_outside_of_the_tree(tmp_path: Path, tree: Tree) -> None:
    make_tree(tmp_path / "x", "demo", "bob")
    for project, to in (("../../x/projects/demo", "bob"), ("demo", "../../../../x/projects/demo/agents/bob")):
        with pytest.raises(UsageError):
            prepare(tree, project, Letter("alice", (to,), "question", "s", "b"), now=AT)
    with pytest.raises(UsageError):
        Watch(tree, "demo", "../agents/bob")
    with pytest.raises(UsageError):
        Watch(tree, "demo", "bob", state_id="../../x")


def test_11_3_4_no_link_to_a_message_is_followed(tmp_path: Path, tree: Tree) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text("subject: secret\n")
    path = tree.path("projects", "demo", "agents", "bob", "inbox", "20260101000000_a_question_1234.yaml")
    os.symlink(secret, path)
    (one,) = list_inbox(tree, "demo", "bob")
    assert (one.subject, "symbolic link" in one.error) == ("", True)
    told: list[dict[str, Any]] = []
    Watch(tree, "demo", "bob").once(told.append, since=EPOCH)
    assert [event["event"] for event in told] == ["error"]
    assert "secret" not in str(told[0]["error"]).replace(str(secret), "")


def test_11_3_8_mail_is_not_readable_for_the_whole_machine(tree: Tree) -> None:
    sent = send(tree, "bob")
    assert not [one for one in (*sent.inboxes, sent.outbox) if os.stat(one).st_mode & 0o077]


def test_11_4_1_a_time_to_live_beyond_the_calendar_is_an_error_and_no_crash() -> None:
    with pytest.raises(UsageError, match="calendar"):
        parse_expiry("99999999999d", AT)
