"""On one tree, the original's program and ours read what the other wrote.

``tests/published.py`` says where the program is; without it these tests are skipped and say so.
"""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests import published
from tests.oacp import AT, names_in, send

from restante.domain.mailbox import Acknowledgement
from restante.domain.message import Sender
from restante.domain.receipt import Decision
from restante.stores.oacp.delivering import deliver
from restante.stores.oacp.index import list_inbox
from restante.stores.oacp.layout import Tree
from restante.stores.oacp.posting import Letter, parse_expiry, prepare
from restante.stores.oacp.reading import read_yaml
from restante.stores.oacp.rendering import render
from restante.stores.oacp.store import OacpMailbox
from restante.stores.oacp.validating import validate
from restante.stores.oacp.watching import Watch
from restante.testing import TRICKY_TEXTS, FakeClock, SequentialIds, make_draft

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = published.program()
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(published.reason_to_skip()), reason=published.reason_to_skip()),
]


class Original:
    """The original's program on a tree."""

    def __init__(self, home: Path) -> None:
        self.home = str(home)
        self.run("init", "demo", "--agents", "alice,bob,carol")

    def try_to(self, *arguments: str, body: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run it."""
        environment = {"PATH": os.environ["PATH"], "HOME": self.home, "OACP_HOME": self.home}
        return subprocess.run(
            [PROGRAM, *arguments],
            input=body,
            env=environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
        )

    def run(self, *arguments: str, body: str | None = None) -> str:
        """Run it; it must not fail."""
        done = self.try_to(*arguments, body=body)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def watch(self, *arguments: str) -> list[dict[str, Any]]:
        """Return the events of one round of its ``watch``."""
        lines = self.run("watch", "--project", "demo", "--agent", "bob", "--json", *arguments).splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def original(tmp_path: Path) -> Original:
    home = tmp_path / "home"
    home.mkdir()
    return Original(home)


@pytest.fixture
def tree(original: Original) -> Tree:
    return Tree(original.home)


def test_the_original_lists_validates_and_watches_what_we_send(original: Original, tree: Tree) -> None:
    texts = [text for text in TRICKY_TEXTS if text.strip() and len(text) < 5_000]
    sent = [
        send(tree, "bob", body=text, subject=f"!{place}: x", at=AT + timedelta(seconds=place), priority="P1")
        for place, text in enumerate(texts)
    ]
    report = json.loads(original.run("inbox", "demo", "--agent", "bob", "--json"))
    (agent,) = report["agents"]
    assert [(one["path"], one["subject"]) for one in agent["messages"]] == [
        (one.inboxes[0], f"!{place}: x") for place, one in enumerate(sent)
    ]
    assert not [one for one in agent["messages"] if "load_error" in one]
    events = original.watch("--since", "epoch")
    assert [one["file"] for one in events] == [os.path.basename(one.outbox) for one in sent]
    for one in sent[::4]:
        original.run("validate", one.inboxes[0])


def test_we_list_watch_and_deliver_what_the_original_sends(original: Original, tree: Tree) -> None:
    for place, body in enumerate(("plain", "two\nlines", 'quoted "x": #y', "    kept\n\nblank")):
        words = ("--from", "alice", "--to", "bob", "--type", "task_request", "--subject", f"s {place}: x")
        original.run("send", "demo", *words, "--priority", f"P{place}", "--body", f"x{body}")
    listed = list_inbox(tree, "demo", "bob")
    found = [(one.subject, one.priority, one.error) for one in listed]
    assert found[:2] == [("s 0: x", "P0", ""), ("s 1: x", "P1", "")]
    # Those two have one place in the order, and came perhaps within one second.
    assert sorted(found[2:]) == [("s 2: x", "P2", ""), ("s 3: x", "P3", "")]
    told: list[dict[str, Any]] = []
    assert Watch(tree, "demo", "bob").once(told.append, since=EPOCH)
    assert len(told) == 4
    mailbox = OacpMailbox(tree, "demo", "bob", clock=FakeClock(), ids=SequentialIds())
    assert {entry.message.body.rstrip("\n") for entry in mailbox.entries()} == {
        "xplain",
        "xtwo\nlines",
        'xquoted "x": #y',
        "x    kept\n\nblank",
    }


@pytest.mark.parametrize(
    "words",
    [
        {"body": "one\ntwo\n", "subject": "plain words"},
        {"body": "one line", "subject": 'with: "signs" [and] {more}'},
        {"body": "x: y", "subject": "- dash", "related_pr": "12", "channel": "ops"},
        {"body": "yes", "subject": "no", "related_packet": "a b", "context_keys": "k1\nk2\n"},
        {"body": "x", "subject": "z", "priority": "P0", "autonomy_hint": "auto_proceed"},
    ],
)
def test_the_bytes_of_a_safe_message_are_the_originals(original: Original, tree: Tree, words: dict[str, Any]) -> None:
    flags = [part for name, value in words.items() for part in (f"--{name.replace('_', '-')}", value)]
    common = ("--from", "alice", "--to", "bob,carol", "--type", "question", "--expires", "5m")
    report = json.loads(original.run("send", "demo", *common, *flags, "--json"))
    with open(report["outbox_path"], "rb") as file:
        theirs = file.read()
    fields = {name: value for name, value in read_yaml(theirs).items() if isinstance(value, (str, list))}
    assert render(fields) == theirs
    at = datetime.fromisoformat(report["created_at_utc"])
    letter = Letter("alice", ("bob", "carol"), "question", words["subject"], words["body"])
    letter = letter._replace(expires=parse_expiry("5m", at), **words)
    ours = prepare(tree, "demo", letter, now=at).fields
    # The original ends every text of several lines with a line end of its own.
    assert {name: value for name, value in ours.items() if value and name not in ("id", "conversation_id")} == {
        name: value for name, value in fields.items() if name not in ("id", "conversation_id")
    }


def test_one_cursor_serves_both(original: Original, tree: Tree) -> None:
    watch = Watch(tree, "demo", "bob", state_id="s1", show_archived=True)
    seen: list[list[str]] = []
    for place in range(4):
        send(tree, "bob", at=AT + timedelta(seconds=place), subject=str(place))
        if place % 2:
            seen.append([one["subject"] for one in original.watch("--state-id", "s1", "--since", "epoch")])
        else:
            told: list[dict[str, Any]] = []
            watch.once(told.append, since=EPOCH)
            seen.append([one["subject"] for one in told])
    assert seen == [["0"], ["1"], ["2"], ["3"]]
    with open(watch.cursor, "rb") as file:
        before = file.read()
    assert original.watch("--state-id", "s1") == []
    with open(watch.cursor, "rb") as file:
        assert file.read() == before


def test_events_are_the_originals(original: Original, tree: Tree) -> None:
    path = send(tree, "bob", priority="P3", subject='a "b"').inboxes[0]
    ours: list[dict[str, Any]] = []
    watch = Watch(tree, "demo", "bob", state_id="ours", show_archived=True)
    watch.once(ours.append, since=EPOCH)
    theirs = original.watch("--state-id", "theirs", "--since", "epoch", "--show-archived")
    os.rename(path, os.path.join(os.path.dirname(path), "archive", os.path.basename(path)))
    watch.once(ours.append, since=EPOCH)
    theirs += original.watch("--state-id", "theirs", "--show-archived")
    assert ours == theirs
    assert len(ours) == 2


def test_a_thread_goes_on_from_either_side(original: Original, tree: Tree) -> None:
    first = send(tree, "bob")
    with open(first.outbox, "rb") as file:
        parent = read_yaml(file.read())
    common = ("--from", "bob", "--to", "alice", "--type", "notification", "--subject", "Re", "--body", "x")
    answer = json.loads(original.run("send", "demo", *common, "--in-reply-to", str(parent["id"]), "--json"))
    with open(answer["inbox_path"], "rb") as file:
        fields = read_yaml(file.read())
    assert fields["conversation_id"] == parent["conversation_id"]
    letter = Letter("alice", ("bob",), "follow_up", "s", "b", parent=answer["message_id"], inherits=True)
    back = prepare(tree, "demo", letter, now=AT)
    assert back.fields["conversation_id"] == parent["conversation_id"]
    deliver(tree, back)
    original.run("validate", tree.path("projects", "demo", "agents", "bob", "inbox", back.name))


def test_what_our_mailbox_ends_is_not_pending_for_the_original(original: Original, tree: Tree) -> None:
    mailbox = OacpMailbox(tree, "demo", "bob", clock=FakeClock(), ids=SequentialIds())
    done, taken, open_ = (
        mailbox.post(make_draft(text, sender=Sender("alice"))).message for text in ("done", "taken back", "open")
    )
    mailbox.acknowledge([Acknowledgement(done.id, Decision.ACCEPTED)], "bob")
    mailbox.withdraw(taken.id)
    report = json.loads(original.run("inbox", "demo", "--agent", "bob", "--json"))
    assert [one["subject"] for one in report["agents"][0]["messages"]] == ["open"]
    assert len(names_in(tree, "bob", "inbox/archive")) == 1
    assert open_.id != done.id
    doctor = json.loads(original.try_to("doctor", "--project", "demo", "--json").stdout)
    inbox = next(one for one in doctor["categories"] if one["name"] == "Inbox Health")
    assert inbox["worst_severity"] in ("ok", "warn", "skip")


@pytest.mark.parametrize(
    "text",
    [
        "id: x\n",
        "id: msg-1\nfrom: alice\nto: []\ntype: question\npriority: P2\nsubject: s\nbody: b\n",
        'id: msg-1\nfrom: -a\nto: [alice, bob]\ntype: x\npriority: P5\ncreated_at_utc: "2026-02-30T00:00:00Z"\n',
        "id: m\nfrom: a\nto: b\ntype: question\npriority: P2\ncreated_at_utc: 2026-02-01\nsubject: s\nbody: b\nx: 1\n",
        "id: [1]\nfrom: {a: b}\nto: {a: b}\nrelated_pr: x\nconversation_id: y\nexpires_at: z\nchannel: '!'\n",
    ],
)
def test_what_is_wrong_is_said_in_the_originals_words(original: Original, tmp_path: Path, text: str) -> None:
    path = tmp_path / "message.yaml"
    path.write_text(text, encoding="utf-8")
    done = original.try_to("validate", str(path))
    theirs = [line.removeprefix("ERROR: ") for line in (done.stdout + done.stderr).splitlines()]
    raw = text.encode()
    assert validate(read_yaml(raw), raw) == [line for line in theirs if not line.startswith("OK")]
