"""OACP trees for tests."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from restante.stores.oacp.delivering import Delivered, deliver
from restante.stores.oacp.posting import Letter, prepare

if TYPE_CHECKING:
    from pathlib import Path

    from restante.stores.oacp.layout import Tree

AT = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)


def make_tree(home: Path, project: str, *agents: str) -> None:
    """Make a project with agents, as the original's ``init`` does as far as mail is concerned."""
    place = home / "projects" / project
    for agent in agents:
        for part in ("inbox/archive", "outbox", "dead_letter"):
            os.makedirs(place / "agents" / agent / part, exist_ok=True)
    os.makedirs(place / "state", exist_ok=True)
    marker = place / "workspace.json"
    if not marker.exists():
        marker.write_text(json.dumps({"project_name": project, "spec_version": "0.5.3"}), encoding="utf-8")


def send(tree: Tree, *to: str, body: str = "Use the v2 endpoint.", at: datetime = AT, **words: Any) -> Delivered:
    """Send a message from alice in project ``demo``; keyword arguments replace what it says."""
    letter = Letter("alice", to or ("bob",), "question", "About it", body)._replace(**words)
    return deliver(tree, prepare(tree, "demo", letter, now=at))


def names_in(tree: Tree, agent: str, place: str = "inbox") -> set[str]:
    """Return the names of the messages in a directory of an agent of ``demo``."""
    return {one for one in os.listdir(tree.path("projects", "demo", "agents", agent, place)) if one.endswith(".yaml")}
