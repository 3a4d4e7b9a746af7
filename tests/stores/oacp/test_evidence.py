"""Evidence of held mail, and the memory of accepted mail: kept once, whole, whoever writes beside it."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oacp import make_tree
from tests.trusted import AT, mode_of

from restante.domain.errors import Damaged, NothingThere, StorageFailed, Unsafe
from restante.stores.oacp import evidence
from restante.stores.oacp.evidence import OwnInbox, agent_directory_of, quarantine_in, sent_elsewhere
from restante.stores.oacp.layout import Tree
from restante.stores.oacp.ledger import Ledger
from restante.testing.fakes import FakeClock

NAME = "20261001120000_alice_notification_0a1b.yaml"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    make_tree(tmp_path, "demo", "alice", "dave")
    return tmp_path


def inbox(home: Path) -> OwnInbox:
    return OwnInbox(Tree(str(home)), "demo", "dave", FakeClock(AT))


def letters(home: Path) -> list[Path]:
    return sorted((home / "projects" / "demo" / "agents" / "dave" / "dead_letter").iterdir())


def test_11_3_9_of_many_that_quarantine_the_same_bytes_at_once_one_copy_is_left(home: Path) -> None:
    with ThreadPoolExecutor(12) as pool:
        kept = set(pool.map(lambda _: inbox(home).quarantine(NAME, b"bytes\n"), range(24)))
    assert [str(path) for path in letters(home)] == sorted(kept)
    assert len(kept) == 1


def test_a_copy_whose_name_is_taken_by_other_bytes_gets_a_counter(home: Path) -> None:
    first = Path(inbox(home).quarantine(NAME, b"bytes\n"))
    first.write_bytes(b"somebody changed the evidence")
    second = Path(inbox(home).quarantine(NAME, b"bytes\n"))
    assert second.name == f"{first.name}.1"
    assert second.read_bytes() == b"bytes\n"


def test_evidence_is_private_and_named_as_the_format_says(home: Path) -> None:
    kept = Path(inbox(home).quarantine(NAME, b"bytes\n"))
    assert kept.name == f"{NAME}.{hashlib.sha256(b'bytes' + bytes([10])).hexdigest()[:8]}.20261001T120000Z"
    assert mode_of(kept) == 0o600


@pytest.mark.parametrize("limit", ["_MOST_LETTERS", "_MOST_KEPT"])
def test_where_there_is_enough_evidence_a_line_is_kept_instead(
    home: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(evidence, limit, {"_MOST_LETTERS": 3, "_MOST_KEPT": 17}[limit])
    kept = [Path(inbox(home).quarantine(NAME, b"number %d" % number)) for number in range(6)]
    for _ in range(2):
        assert Path(inbox(home).quarantine(f"2\n{NAME}", b"number 5\n" + bytes(9))).name == evidence.TRACE
    copies = [path for path in letters(home) if path.name != evidence.TRACE]
    assert 2 <= len(copies) <= 3
    assert set(copies) == {path for path in kept if path.name != evidence.TRACE}
    trace = (copies[0].parent / evidence.TRACE).read_text().splitlines()
    told = [hashlib.sha256(b"number %d" % number).hexdigest() for number in range(len(copies), 6)]
    assert [line.split()[2] for line in trace[:-1]] == told
    assert len(trace) == len(told) + 1
    # What was kept before is found again, and no line is written about it.
    assert Path(inbox(home).quarantine(NAME, b"number 0")) == kept[0]


def test_evidence_goes_through_no_link(home: Path) -> None:
    place = home / "projects" / "demo" / "agents" / "dave" / "dead_letter"
    place.rmdir()
    place.symlink_to(home)
    with pytest.raises(Unsafe):
        inbox(home).quarantine(NAME, b"bytes\n")
    place.unlink()
    kept = Path(inbox(home).quarantine(NAME, b"bytes\n"))
    assert mode_of(kept.parent) & 0o022 == 0


def test_a_link_with_the_name_of_evidence_is_not_taken_for_it(home: Path) -> None:
    digest = hashlib.sha256(b"bytes\n").hexdigest()[:8]
    place = home / "projects" / "demo" / "agents" / "dave" / "dead_letter"
    (home / "same").write_bytes(b"bytes\n")
    (place / f"{NAME}.{digest}.20260101T000000Z").symlink_to(home / "same")
    kept = Path(inbox(home).quarantine(NAME, b"bytes\n"))
    assert not kept.is_symlink()
    assert kept.read_bytes() == b"bytes\n"


def test_names_as_long_as_names_can_be_are_kept_too(home: Path) -> None:
    one, other = (Path(inbox(home).quarantine("x" * 250 + ".yaml", raw)) for raw in (b"a", b"b"))
    assert {one.read_bytes(), other.read_bytes()} == {b"a", b"b"}


def test_11_3_9_an_archived_message_has_the_dead_letters_of_its_agent(home: Path) -> None:
    agent = home / "projects" / "demo" / "agents" / "dave"
    for path in (agent / "inbox" / NAME, agent / "inbox" / "archive" / NAME):
        assert agent_directory_of(str(path)) == str(agent)
        kept = quarantine_in(agent_directory_of(str(path)), NAME, b"bytes\n", FakeClock(AT))
        assert Path(kept).parent == agent / "dead_letter"
    assert agent_directory_of("/tmp/x.yaml") == ""
    assert not (agent / "inbox" / "dead_letter").exists()


@pytest.mark.parametrize(("project", "agent"), [("demo", "nobody"), ("nowhere", "dave")])
def test_unknown_names_have_no_inbox(home: Path, project: str, agent: str) -> None:
    with pytest.raises(NothingThere):
        OwnInbox(Tree(str(home)), project, agent, FakeClock(AT))


@pytest.mark.parametrize("sender", ["..", ".", "a/b", "../../other/agents/alice", None, ["alice"], "alice"])
def test_no_sender_leads_the_look_for_its_copy_astray(home: Path, sender: object) -> None:
    make_tree(home, "other", "bob")
    fields = {"from": sender, "created_at_utc": "2026-10-01T12:00:00Z", "type": "notification"}
    assert sent_elsewhere(Tree(str(home)), "demo", fields, b"x") == ""


DIGEST = "ab" * 32


def test_a_message_is_remembered_once_for_each_who_accepted_it(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path))
    for receiver in ("dave", "dave", "carl"):
        ledger.spend(DIGEST, "demo", receiver, "msg", AT)
    assert [(one.project, one.receiver) for one in ledger.find(DIGEST)] == [("demo", "dave"), ("demo", "carl")]
    assert mode_of(tmp_path / ".restante") == 0o700
    assert mode_of(tmp_path / ".restante" / "accepted" / "ab") == 0o600


def test_other_addressees_may_accept_it_and_other_projects_may_not(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path))
    assert not ledger.is_spent(DIGEST, "demo", "dave")
    ledger.spend(DIGEST, "demo", "dave", "msg", AT)
    assert ledger.is_spent(DIGEST, "demo", "dave")
    assert not ledger.is_spent(DIGEST, "demo", "carl")
    assert ledger.is_spent(DIGEST, "other", "dave")
    assert ledger.is_spent(DIGEST, "other", "carl")
    assert not ledger.is_spent("ab" + "cd" * 31, "demo", "dave")


def test_a_memory_that_was_cut_counts_rather_than_not(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path))
    ledger.spend(DIGEST, "demo", "dave", "msg", AT)
    shelf = tmp_path / ".restante" / "accepted" / "ab"
    shelf.write_bytes(shelf.read_bytes()[:75])
    assert ledger.is_spent(DIGEST, "demo", "dave")
    ledger.spend("ab" + "cd" * 31, "demo", "dave", "msg", AT)
    assert ledger.is_spent("ab" + "cd" * 31, "demo", "dave")


def test_a_memory_that_cannot_be_read_is_an_error_and_not_empty(tmp_path: Path) -> None:
    shelf = tmp_path / ".restante" / "accepted" / "ab"
    shelf.mkdir(parents=True)
    with pytest.raises(StorageFailed):
        Ledger(str(tmp_path)).is_spent(DIGEST, "demo", "dave")


def test_many_at_once_are_all_remembered(tmp_path: Path) -> None:
    digests = [f"ab{number:062x}" for number in range(60)]
    with ThreadPoolExecutor(10) as pool:
        list(pool.map(lambda one: Ledger(str(tmp_path)).spend(one, "demo", "dave", one, AT), digests))
    ledger = Ledger(str(tmp_path))
    assert all(len(ledger.find(one)) == 1 for one in digests)


@given(st.text(max_size=40), st.text(max_size=12))
def test_any_names_come_back_from_memory(tmp_path_factory: pytest.TempPathFactory, project: str, receiver: str) -> None:
    ledger = Ledger(str(tmp_path_factory.mktemp("ledger")))
    ledger.spend(DIGEST, project or "p", receiver, "a\nb", AT)
    assert [(one.project, one.receiver) for one in ledger.find(DIGEST)] == [(project or "p", receiver)]


@pytest.mark.parametrize("digest", ["", "../../x", "AB" * 32, "ab" * 31])
def test_what_is_no_digest_is_no_place(tmp_path: Path, digest: str) -> None:
    with pytest.raises(Damaged, match="SHA-256"):
        Ledger(str(tmp_path)).find(digest)
    assert os.listdir(tmp_path) == []
