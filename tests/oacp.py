"""OACP trees for tests."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


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
