"""Who makes up roles without end is stopped, and takes nothing from those that are there."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest

from restante import roster
from restante.domain.errors import Forbidden, Refused
from restante.domain.message import Draft
from restante.services import holding

from .conftest import ALICE, ROLE

if TYPE_CHECKING:
    from .conftest import Town


def test_an_owner_has_no_more_roles_than_may_be(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holding, "MOST_ROLES", 3)
    for role in (ROLE, "parser/author", "parser/tester"):
        town.by(ALICE).join(role)
    for role in ("parser/fourth", "other/first"):
        with pytest.raises(Refused, match="3 roles"):
            town.by().join(role)
    assert len(town.by().seats()) == 3
    assert town.by(ALICE).join(ROLE).is_held
    town.by(owner="bob").join(ROLE)
    town.by().drop("parser/author")
    assert town.by().leave("parser/author")
    town.by().join("parser/fourth")


def test_nobody_unproven_makes_a_role(town: Town) -> None:
    for asks in (town.by(verified=False), town.by(ALICE, verified=False)):
        with pytest.raises(Forbidden, match="nothing proved"):
            asks.join(ROLE)
    assert town.by().seats() == []


def test_looking_back_into_a_team_holds_no_more_of_its_mail_than_is_shown(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roster, "_PAGE", 3)
    roles = [f"parser/r{number}" for number in range(4)]
    for role in roles:
        town.by().join(role)
    text = "x" * 16_000
    for number in range(40):
        town.clock.advance(1)
        town.by().post(roles[number % 4], Draft(f"{number} {text}"))
    town.by().history("parser", limit=1)
    tracemalloc.start()
    try:
        shown, older = town.by().history("parser", limit=3)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [entry.message.body.partition(" ")[0] for entry in shown] == ["37", "38", "39"]
    assert older == 37
    assert most < 20 * len(text), "a page, what is shown, and what the database holds of them"
    assert town.by().history("parser", limit=0) == ([], 40)
