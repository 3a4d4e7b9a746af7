"""Who makes up roles without end is stopped, and takes nothing from those that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import Forbidden, Refused
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
