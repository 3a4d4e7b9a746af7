"""Making Codex run our hooks: the entries in the person's own configuration that the person could write too."""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING

from restante.agents import codex
from restante.agents.files import read_plain
from restante.agents.toml_edit import add_entries
from restante.domain.errors import NothingThere, Unreadable
from restante.domain.setup import FileChange, Plan

if TYPE_CHECKING:
    from restante.agents.ground import Ground


def plan_trust(ground: Ground) -> Plan:
    """Return the changes that make our hooks, and no others, trusted. Never asks Codex to make them.

    Raises:
        NothingThere: No hook of ours is installed for Codex.
        UsageError: The environment does not say where the configuration is.
        Unreadable: The configuration, or the hooks file, is not what it should be.
        BadText: A name cannot stand in the configuration.
    """
    # A configuration that is kept elsewhere and linked here is changed where it is kept.
    path = os.path.realpath(os.path.join(codex.home_of(ground.env), "config.toml"))
    keys = ground.trust_keys()
    if not keys:
        raise NothingThere("no hook of ours is installed for Codex", remedy="restante install --agent codex")
    data = read_plain(path, os.path.dirname(path))
    try:
        config = tomllib.loads((data or b"").decode())
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{path}: not TOML: {error}", remedy="correct the file; nothing was changed") from None
    entries: list[tuple[tuple[str, ...], str, str]] = [
        (("hooks", "state", key.key), "trusted_hash", key.digest) for key in keys
    ]
    events = ", ".join(dict.fromkeys(key.event for key in keys))
    notes = [f"trusts our hooks in {ground.hook_files(codex.NAME)[0]}: {events}"]
    level = codex.project_level(config, ground.root)
    if level is None:
        project = os.path.realpath(ground.root)
        entries.append((("projects", project), "trust_level", "trusted"))
        notes.append(f"trusts the project {project}: Codex will also read its other settings in .codex")
    elif level != "trusted":
        notes.append(f"{path} calls this project {level}; that stays, and Codex runs none of its hooks")
    after = add_entries(data, entries, path)
    if after == data:
        return Plan(())
    return Plan((FileChange(path, data, after, "our hooks trusted"),), tuple(notes))
