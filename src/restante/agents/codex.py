"""Codex: where its hooks go, which of them it trusts and what switches hooks off (seen with 0.171.0)."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from restante.agents.gitplaces import git_places
from restante.agents.habits import Habits
from restante.agents.hookline import is_ours
from restante.agents.json_edit import hooks_in
from restante.agents.regular import read_regular
from restante.domain.errors import BadText, RestanteError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.agents.gitplaces import GitPlaces
    from restante.agents.json_edit import Placed

# Any other key makes Codex reject the whole file.
ROOT_KEYS = frozenset({"hooks", "description"})

_SNAKE = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "user_prompt_submit",
    "PostToolUse": "post_tool_use",
    "Stop": "stop",
    "SessionEnd": "session_end",
}
_DEFAULT_TIMEOUT = 600


class CodexHabits(Habits):
    """Those of Codex."""

    only_keys = ROOT_KEYS
    refuses_mark = True
    borrows = True
    server_notes = ("Codex reads .codex/config.toml only of a project that you trust: restante install --trust",)

    def hook_files(self, root: str) -> list[str]:
        """See ``Habits``."""
        return hooks_files(root)

    def switched_off_by(self, _root: str, env: Mapping[str, str], etc: str) -> str:
        """See ``Habits``."""
        return switched_off_by(env, etc)

    def find(self, env: Mapping[str, str]) -> str | None:
        """See ``Habits``."""
        from restante.agents.app_server import find_codex

        try:
            return find_codex(environ=env)
        except RestanteError:
            return None

    def notes(self, places: GitPlaces) -> list[str]:
        """See ``Habits``."""
        if not places.borrows_hooks:
            return []
        return [f"Codex reads the hooks of this linked worktree from {hooks_files(places.root)[0]}"]


@dataclass(frozen=True, slots=True)
class TrustKey:
    """What trusting one hook of ours takes.

    Attributes:
        event: The event, as in the hooks file.
        key: The name of the entry under ``hooks.state``.
        digest: Its ``trusted_hash``.
    """

    event: str
    key: str
    digest: str


def hooks_files(root: str) -> list[str]:
    """Return the hook files a worktree needs, the one that Codex reads first.

    For a linked worktree Codex reads the main one's file, and only if the linked one has a ``.codex`` of
    its own; a file there makes sure of that.
    """
    read = os.path.join(git_places(root).hooks_root, ".codex", "hooks.json")
    return list(dict.fromkeys([read, os.path.join(root, ".codex", "hooks.json")]))


def home_of(env: Mapping[str, str]) -> str:
    """Return the directory of the person's own Codex configuration.

    Raises:
        UsageError: The environment does not say.
    """
    if env.get("CODEX_HOME"):
        return os.path.abspath(env["CODEX_HOME"])
    if env.get("HOME"):
        return os.path.join(env["HOME"], ".codex")
    raise UsageError("HOME is not set, so Codex's configuration cannot be found", remedy="set HOME or CODEX_HOME")


def digest_of(event: str, entry: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """Return the hash by which Codex knows a hook again, of a command or of a tool.

    SHA-256 of the hook as compact JSON with sorted keys, its defaults filled in: name of the event,
    the entry, and the group's matcher where it has one.

    Args:
        event: The event, as in the hooks file.
        entry: The hook entry.
        settings: Its group without the entries.
    """
    timeout = entry.get("timeout", _DEFAULT_TIMEOUT)
    if entry.get("type") == "mcp_tool":
        full: dict[str, Any] = {key: entry.get(key) for key in ("type", "server", "tool", "input")}
        full["timeout"] = timeout
    else:
        is_async = entry.get("async", False)
        full = {"type": entry.get("type"), "command": entry.get("command"), "timeout": timeout, "async": is_async}
    if entry.get("statusMessage") is not None:
        full["statusMessage"] = entry["statusMessage"]
    group: dict[str, Any] = {"event_name": _SNAKE[event], "hooks": [full]}
    if settings.get("matcher") is not None:
        group["matcher"] = settings["matcher"]
    text = json.dumps(group, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def trust_keys(data: bytes, path: str) -> list[TrustKey]:
    """Return what trusting our hooks of a hooks file takes, in the order of the file.

    Args:
        data: The hooks file.
        path: Its name; it is part of each key, and so are the hook's places in the file.

    Raises:
        Unreadable: The file is not JSON of the expected shape.
        BadText: The file's name is not UTF-8.
    """
    try:
        path.encode()
    except UnicodeEncodeError:
        raise BadText(f"{path!r} is not UTF-8 and cannot stand in Codex's configuration") from None
    return [
        TrustKey(
            one.event,
            f"{path}:{_SNAKE[one.event]}:{one.group}:{one.place}",
            digest_of(one.event, one.entry, one.settings),
        )
        for one in hooks_in(data, path)
        if one.event in _SNAKE and is_ours(one.entry)
    ]


def is_trusted(config: Mapping[str, Any], path: str, hook: Placed) -> bool:
    """Tell whether the person trusts a hook just as it stands, under any name of its file, and has it switched on.

    Args:
        config: The person's configuration.
        path: The hooks file.
        hook: The hook in it.

    Raises:
        ValueError: The hook holds text that is not UTF-8.
    """
    hooks = config.get("hooks")
    states = hooks.get("state") if isinstance(hooks, dict) else None
    place = f":{_SNAKE[hook.event]}:{hook.group}:{hook.place}"
    digest, real = digest_of(hook.event, hook.entry, hook.settings), os.path.realpath(path)
    return any(
        state.get("trusted_hash") == digest
        and state.get("enabled") is not False
        and os.path.realpath(key.removesuffix(place)) == real
        for key, state in (states.items() if isinstance(states, dict) else ())
        if key.endswith(place) and isinstance(state, dict)
    )


def project_level(config: Mapping[str, Any], root: str) -> str | None:
    """Return the ``trust_level`` that counts for a worktree: its own, else the main worktree's.

    Args:
        config: The person's configuration.
        root: The worktree.
    """
    projects = config.get("projects")
    for name in dict.fromkeys([root, os.path.realpath(root), git_places(root).hooks_root]):
        entry = projects.get(name) if isinstance(projects, dict) else None
        level = entry.get("trust_level") if isinstance(entry, dict) else None
        if isinstance(level, str):
            return level
    return None


def switched_off_by(env: Mapping[str, str], etc: str) -> str:
    """Return the file that keeps Codex from running a worktree's hooks, or nothing."""
    policy = os.path.join(etc, "codex", "requirements.toml")
    rules = _table(policy)
    if rules.get("allow_managed_hooks_only") is True:
        return policy
    for section in ("features", "feature_requirements"):
        if _says_no(rules.get(section)):
            return policy
    try:
        own = os.path.join(home_of(env), "config.toml")
    except UsageError:
        return ""
    return own if _says_no(_table(own).get("features")) else ""


def own_config(env: Mapping[str, str]) -> dict[str, Any]:
    """Return the person's configuration; empty where it cannot be read.

    Raises:
        UsageError: The environment does not say where it is.
    """
    return _table(os.path.join(home_of(env), "config.toml"))


def _says_no(features: object) -> bool:
    return isinstance(features, dict) and (features.get("hooks", features.get("codex_hooks")) is False)


def _table(path: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(read_regular(path).decode())
    except (OSError, ValueError, RecursionError):
        return {}
