"""Opening offices and mailboxes by what names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.oacp import make_tree

from restante.domain.errors import BadAddress, NothingThere, NoWorktree
from restante.domain.message import Draft
from restante.wiring import open_mailbox, open_office

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    place = tmp_path / "repo"
    (place / ".git").mkdir(parents=True)
    (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return place


def test_a_sessions_mailbox_is_kept_in_the_data_directory(tmp_path: Path) -> None:
    environment = {"RESTANTE_DATA": str(tmp_path / "data")}
    mailbox = open_mailbox("session:abc-1", environment=environment)
    assert mailbox.address == "session:abc-1"
    message = mailbox.post(Draft("text")).message
    assert (tmp_path / "data" / "restante.db").exists()
    again = open_mailbox("session:abc-1", environment=environment)
    assert again.entry(message.id).message.body == "text"
    assert open_mailbox("session:abc-2", environment=environment).entries() == []
    assert open_mailbox("team/role", environment=environment).entries() == []


def test_a_worktrees_mailbox_is_the_one_of_its_office(repo: Path) -> None:
    sent = open_office(str(repo), environment={}).send(Draft("text"))
    mailbox = open_mailbox(f"worktree:{repo}", environment={})
    assert [entry.message for entry in mailbox.entries()] == [sent.posted.message]


def test_an_agents_mailbox_in_a_tree_is_opened_by_its_address(tmp_path: Path) -> None:
    make_tree(tmp_path, "demo", "codex")
    environment = {"OACP_HOME": str(tmp_path)}
    posted = open_mailbox("oacp:demo/codex", environment=environment).post(Draft("text")).message
    assert open_mailbox("oacp:demo/codex", environment=environment).entry(posted.id).message == posted


def test_an_address_that_names_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadAddress):
        open_mailbox("nowhere", environment={})
    with pytest.raises(NothingThere):
        open_mailbox("oacp:project/agent", environment={"OACP_HOME": str(tmp_path)})
    with pytest.raises(NoWorktree):
        open_mailbox(f"worktree:{tmp_path}", environment={})


def test_an_office_outside_of_worktrees_must_be_asked_for(tmp_path: Path) -> None:
    with pytest.raises(NoWorktree):
        open_office(str(tmp_path), environment={})
    office = open_office(str(tmp_path), environment={}, anywhere=True)
    with pytest.raises(NoWorktree):
        office.send(Draft("text"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("claimed", ["human", "somebody"])
def test_what_a_session_sends_is_from_that_session_whatever_it_claims(repo: Path, claimed: str) -> None:
    from restante.domain.message import Sender

    office = open_office(str(repo), environment={"CODEX_THREAD_ID": "thread-1"})
    sent = office.send(Draft("text", sender=Sender(claimed, verified=True)))
    assert sent.posted.message.sender == Sender("codex:thread-1")
    again = open_office(str(repo), environment={})
    assert again.case(sent.posted.message.id).entry.message.sender == Sender("codex:thread-1")
