"""Making Codex run our hooks: the entries in the person's own configuration that the person could write too."""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING

from restante.agents import codex
from restante.agents.files import read_plain
from restante.agents.toml_edit import add_entries
from restante.domain.errors import NothingThere, Unreadable
from restante.domain.setup import Check, FileChange, Plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from restante.agents.ground import Ground

_TRUST = "restante install --trust"
# What no command of ours mends.
_BY_HAND = "by hand: "


def trust_keys(ground: Ground) -> list[codex.TrustKey]:
    """Return what trusting our installed Codex hooks takes, under each name that the file goes by.

    Raises:
        Unreadable: The hooks file is not what it should be.
        BadText: Its name cannot stand in a configuration.
    """
    data = ground.read(codex.hooks_files(ground.root)[0])
    if data is None:
        return []
    top = ground.places.hooks_root
    tops = dict.fromkeys([top, os.path.realpath(top)])
    return [key for one in tops for key in codex.trust_keys(data, os.path.join(one, ".codex", "hooks.json"))]


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
    keys = trust_keys(ground)
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
    notes = [f"trusts our hooks in {codex.hooks_files(ground.root)[0]}: {events}"]
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


def trust_lines(ground: Ground) -> Iterator[Check]:
    """Yield whether Codex trusts the project and each hook: the published recipe, for the name it was opened by.

    Where there is no Codex, nothing is amiss: nobody could have trusted anything yet.
    """
    amiss = None if codex.CodexHabits("codex").find(ground.env) is None else False
    config = codex.own_config(ground.env)
    level = codex.project_level(config, ground.root)
    if level == "trusted":
        yield Check("codex: project", True, "trusted")
    elif level is None:
        yield Check("codex: project", amiss, "not trusted, so none of its hooks runs", _TRUST)
    else:
        path = os.path.join(codex.home_of(ground.env), "config.toml")
        remedy = f'{_BY_HAND}say trust_level = "trusted" for this project in {path}'
        yield Check("codex: project", amiss, f"{level}, so none of its hooks runs", remedy)
    hooks = config.get("hooks")
    states = hooks.get("state") if isinstance(hooks, dict) else None
    top = os.path.join(ground.places.hooks_root, "")
    for key in trust_keys(ground):
        if not key.key.startswith(top):
            continue
        state = states.get(key.key) if isinstance(states, dict) else None
        state = state if isinstance(state, dict) else {}
        name, digest = f"codex: trust {key.event}", state.get("trusted_hash")
        if digest is None:
            yield Check(name, amiss, "untrusted: Codex skips it in silence", _TRUST)
        elif digest != key.digest:
            yield Check(name, amiss, "modified since it was trusted: Codex skips it in silence", _TRUST)
        elif state.get("enabled") is False:
            yield Check(name, amiss, "switched off by hand", f"{_BY_HAND}switch it on in Codex with /hooks")
        else:
            yield Check(name, True, "trusted")
