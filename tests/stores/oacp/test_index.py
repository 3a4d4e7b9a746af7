"""Listing: in the order of work, nothing read twice, nothing that vanishes or is broken in the way."""

from __future__ import annotations

import os
import stat
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.oacp import AT, names_in, send

from restante.stores.oacp import index
from restante.stores.oacp.index import Examine, list_inbox
from restante.stores.oacp.reading import read_fields

if TYPE_CHECKING:
    from restante.stores.oacp.directory import Directory
    from restante.stores.oacp.layout import Tree


def _put(tree: Tree, name: str, raw: bytes) -> None:
    with open(tree.path("projects", "demo", "agents", "bob", "inbox", name), "wb") as file:
        file.write(raw)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What is parsed, from now on."""
    parsed: list[bytes] = []

    def read(raw: bytes) -> dict[str, object]:
        parsed.append(raw)
        return read_fields(raw)

    monkeypatch.setattr(index, "read_fields", read)
    return parsed


def test_the_order_is_urgency_then_work_before_news_then_age(tree: Tree) -> None:
    at = iter(AT + timedelta(seconds=10 - place) for place in range(10))
    wanted = ["p0 old", "p0 new", "p1 task", "p1 note", "p3 review old", "p2 review", "p2 note old", "p3 note new"]
    said = {
        "p3 note new": ("P3", "notification"),
        "p2 note old": ("P2", "notification"),
        "p2 review": ("P2", "review_request"),
        "p3 review old": ("P3", "review_request"),
        "p1 note": ("P1", "notification"),
        "p1 task": ("P1", "task_request"),
        "p0 new": ("P0", "question"),
        "p0 old": ("P0", "question"),
    }
    for subject, (priority, kind) in said.items():
        send(tree, "bob", subject=subject, priority=priority, type=kind, at=next(at))
    assert [one.subject for one in list_inbox(tree, "demo", "bob")] == wanted


def test_a_listing_carries_what_a_receiver_needs_to_choose(tree: Tree) -> None:
    send(tree, "bob", "carol", expires=AT + timedelta(hours=1), parent="msg-p", channel="ops", subject='a\tb\\n "c"')
    for _ in range(2):
        (one,) = list_inbox(tree, "demo", "bob")
        assert one.id.startswith("msg-20260520153000-alice-")
        assert (one.sender, one.to, one.type, one.priority) == ("alice", "bob, carol", "question", "P2")
        assert (one.created, one.expires) == ("2026-05-20T15:30:00Z", "2026-05-20T16:30:00Z")
        assert (one.parent, one.channel, one.subject) == ("msg-p", "ops", 'a\tb\\n "c"')
        status = os.stat(tree.path("projects", "demo", "agents", "bob", "inbox", one.name))
        assert (one.size, one.modified, one.error) == (status.st_size, status.st_mtime_ns, "")


def test_11_4_4_what_did_not_change_is_not_read_again(tree: Tree, reads: list[bytes]) -> None:
    for place in range(40):
        send(tree, "bob", subject=f"s{place}", at=AT + timedelta(seconds=place))
    first = list_inbox(tree, "demo", "bob")
    assert len(reads) == 40
    assert list_inbox(tree, "demo", "bob") == first
    assert len(reads) == 40
    path = tree.path("projects", "demo", "agents", "bob", "inbox", first[0].name)
    with open(path, "rb") as file:
        raw = file.read()
    os.unlink(path)
    _put(tree, first[0].name, raw.replace(b"subject: s0", b"subject: t0"))
    os.unlink(tree.path("projects", "demo", "agents", "bob", "inbox", first[1].name))
    again = list_inbox(tree, "demo", "bob")
    assert [one.subject for one in again] == ["t0", *(one.subject for one in first[2:])]
    assert len(reads) == 41


def test_a_file_that_was_changed_in_its_place_is_read_again(tree: Tree, reads: list[bytes]) -> None:
    for place in range(40):
        send(tree, "bob", subject=f"s{place}", at=AT + timedelta(seconds=place))
    first = list_inbox(tree, "demo", "bob")
    path = tree.path("projects", "demo", "agents", "bob", "inbox", first[7].name)
    with open(path, "r+b") as file:
        raw = file.read()
        file.seek(0)
        file.write(raw.replace(b"subject: s7", b"subject: t7"))
    wanted = [one.subject for one in first]
    wanted[7] = "t7"
    assert [one.subject for one in list_inbox(tree, "demo", "bob")] == wanted
    assert len(reads) == 41


def test_an_index_leads_to_no_file_that_is_not_listed_in_the_inbox(tree: Tree, reads: list[bytes]) -> None:
    for place in range(40):
        send(tree, "bob", subject=f"s{place}", at=AT + timedelta(seconds=place))
    first = list_inbox(tree, "demo", "bob")
    inbox = tree.path("projects", "demo", "agents", "bob", "inbox")
    os.rename(f"{inbox}/{first[3].name}", f"{inbox}/archive/{first[3].name}")
    index_file = tree.path("projects", "demo", "state", "restante", "bob", "index")
    with open(index_file, "r+b") as file:
        content = file.read().replace(first[3].name.encode(), f"archive/{first[3].name}".encode())
        file.seek(0)
        file.write(content)
    assert list_inbox(tree, "demo", "bob") == [one for one in first if one is not first[3]]
    assert len(reads) == 40


@pytest.mark.parametrize(
    "content", [b"", b"\0\xff", b"restante index 1 \nx\n", b"restante index 9 \n", b"restante index 1 "]
)
def test_an_index_that_is_damaged_is_made_again(tree: Tree, content: bytes) -> None:
    send(tree, "bob")
    wanted = list_inbox(tree, "demo", "bob")
    place = tree.path("projects", "demo", "state", "restante", "bob", "index")
    with open(place, "wb") as file:
        file.write(content)
    assert list_inbox(tree, "demo", "bob") == wanted


def test_where_no_index_can_be_written_there_is_none(tree: Tree) -> None:
    send(tree, "bob")
    state = tree.path("projects", "demo", "state", "restante")
    os.rename(state, f"{state}.away")
    os.symlink("/nowhere", state)
    assert len(list_inbox(tree, "demo", "bob")) == 1
    assert os.path.islink(state)


def test_files_that_vanish_meanwhile_are_no_error(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in range(3):
        send(tree, "bob", at=AT + timedelta(seconds=place))
    found = index.pending

    def vanish(inbox: Directory, listed: list[tuple[str, os.stat_result]]) -> list[tuple[str, os.stat_result]]:
        names = found(inbox, listed)
        os.unlink(inbox.at(names[0][0]))
        return names

    monkeypatch.setattr(index, "pending", vanish)
    assert len(list_inbox(tree, "demo", "bob")) == 2


def test_what_cannot_be_read_is_listed_with_its_reason(tree: Tree, tmp_path: object) -> None:
    secret = tree.path("projects", "demo", "workspace.json")
    os.symlink(secret, tree.path("projects", "demo", "agents", "bob", "inbox", "20260101000000_x_link.yaml"))
    _put(tree, "20260101000000_a_b.yaml", b"{x: [")
    _put(tree, "20260101000001_a_b.yaml", b"\xff")
    _put(tree, "20260101000002_a_b.yaml", b"[" * 40_000)
    _put(tree, "notes.txt", b"x")
    os.mkfifo(tree.path("projects", "demo", "agents", "bob", "inbox", "20260101000003_fifo.yaml"))
    for _ in range(2):
        found = {one.name: one for one in list_inbox(tree, "demo", "bob")}
        assert len(found) == 4
        assert "symbolic link" in found["20260101000000_x_link.yaml"].error
        assert "parse error" in found["20260101000000_a_b.yaml"].error
        assert all(one.error and not one.subject for one in found.values())


def test_a_held_message_shows_nothing_but_its_standing(tree: Tree) -> None:
    send(tree, "bob", subject="secret")
    hold = Examine("k1", lambda _: ("invalid", False))
    show = Examine("k2", lambda _: ("verified", True))
    for examine, subject in ((hold, ""), (hold, ""), (show, "secret"), (hold, "")):
        (one,) = list_inbox(tree, "demo", "bob", examine=examine)
        assert (one.standing, one.subject, one.id == "") == (examine.judge(b"")[0], subject, subject == "")
    index_file = tree.path("projects", "demo", "state", "restante", "bob", "index")
    with open(index_file, "rb") as file:
        assert b"secret" not in file.read()


def test_the_index_is_ours_alone(tree: Tree) -> None:
    send(tree, "bob")
    list_inbox(tree, "demo", "bob")
    status = os.stat(tree.path("projects", "demo", "state", "restante", "bob", "index"))
    assert stat.S_IMODE(status.st_mode) == 0o600
    assert len(names_in(tree, "bob")) == 1
