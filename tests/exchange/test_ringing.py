"""Whoever posts rings for the mailbox's monitor, and not before the post is durable."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from restante import Draft, open_office
from restante.domain.registry import Arrival, Identity
from restante.system.doorbells import FileDoorbells
from restante.wiring.sessions import open_exchange

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from restante.exchange import Exchange

ADDRESS = "session:session-worker"


@pytest.fixture
def bells(tmp_path: Path) -> FileDoorbells:
    made = FileDoorbells(str(tmp_path / "data"))
    made.expect(ADDRESS)
    made.rung([ADDRESS])
    return made


@pytest.fixture
def exchange(tmp_path: Path) -> Iterator[Exchange]:
    made = open_exchange({"RESTANTE_DATA": str(tmp_path / "data")}, holds_mail=True)
    made.window(Identity()).register(Arrival("session-worker"))
    yield made
    made.close()


def test_a_post_to_a_session_rings(bells: FileDoorbells, exchange: Exchange) -> None:
    exchange.window(Identity()).post("session-worker", Draft("The parser is done."))
    assert bells.rung([ADDRESS]) == [ADDRESS]


def test_a_batch_rings_once_and_only_when_it_was_committed(bells: FileDoorbells, exchange: Exchange) -> None:
    window = exchange.window(Identity())
    with exchange.together():
        for number in range(3):
            window.post("session-worker", Draft(f"Step {number} is done."))
        assert bells.rung([ADDRESS]) == []
    assert bells.rung([ADDRESS]) == [ADDRESS]


def test_a_batch_that_was_undone_rings_nobody(bells: FileDoorbells, exchange: Exchange) -> None:
    window = exchange.window(Identity())
    with pytest.raises(ZeroDivisionError), exchange.together():
        window.post("session-worker", Draft("The parser is done."))
        raise ZeroDivisionError
    assert bells.rung([ADDRESS]) == []
    window.post("session-worker", Draft("The parser is done."))
    assert bells.rung([ADDRESS]) == [ADDRESS]


def test_guidance_for_a_worktree_rings(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    office = open_office(str(tmp_path / "repo"), environment={"RESTANTE_DATA": str(tmp_path / "data")})
    office.send(Draft("Mind the tests."))
    assert not (tmp_path / "data").exists()
    bells = FileDoorbells(str(tmp_path / "data"))
    bells.expect(office.address)
    bells.rung([office.address])
    office.send(Draft("Mind the tests too."))
    assert bells.rung([office.address]) == [office.address]


def test_a_post_needs_no_place_for_bells(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    office = open_office(str(tmp_path), environment={})
    office.send(Draft("Mind the tests."))
    assert office.counts().pending == 1
    assert os.listdir(tmp_path / ".codex-mailbox")
