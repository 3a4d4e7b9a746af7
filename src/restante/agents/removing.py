"""What uninstalling changes: every file as it was before, and mail left where it is."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from restante.agents import check_inbox_skill, codex, mcp_servers
from restante.agents.files import joined
from restante.agents.gitplaces import other_worktrees
from restante.agents.ground import MAILBOX
from restante.agents.guidance import GUIDANCE_FILES, IGNORE_ALL, is_our_readme, is_our_skill
from restante.agents.json_edit import take_out_hooks
from restante.agents.managed_block import GUIDANCE, IGNORES, take_out_block
from restante.agents.plugin import is_ours as is_our_plugin
from restante.agents.plugin import plugin_file
from restante.agents.quirks import habits_of
from restante.agents.regular import read_regular
from restante.agents.skill import PLACES
from restante.agents.trust import trust_keys
from restante.domain.errors import RestanteError
from restante.domain.setup import FileChange, Plan
from restante.domain.text import counted
from restante.programs import PROGRAMS

if TYPE_CHECKING:
    from restante.agents.ground import Ground


def plan_removal(ground: Ground) -> Plan:
    """Return what removing everything of ours changes.

    What all worktrees of a repository share, ignore rules and Codex's hooks, stays while another of them uses it.

    Raises:
        Unreadable: A file is not what it should be; it is named with the line.
        Unsafe: A file, or a directory on the way to it, is a symbolic link.
    """
    users = [other for other in other_worktrees(ground.places) if _is_installed(other)]
    notes: list[str] = []
    changes = []
    for name, one in PROGRAMS.items():
        changes += [_plugin(ground, path) for path in [plugin_file(ground.root, name)] if path]
        first, *own = ground.hook_files(name) or [""]
        changes += [_hooks(ground, path) for path in own]
        change = _hooks(ground, first) if first else None
        if change and users and habits_of(name).borrows and change.before != change.after:
            notes.append(f"{first} stays as it is: {one.title} reads it for {', '.join(users)} too")
        elif change:
            changes.append(change)
            notes += _trust_left(ground) if one.asks_trust else []
    changes += mcp_servers.removals(ground.root, changes)
    changes += [_guidance(ground, name) for name in dict.fromkeys(["AGENTS.md", *GUIDANCE_FILES])]
    changes += [
        _skill(ground, place) for place in dict.fromkeys([*PLACES.values(), *check_inbox_skill.PLACES.values()])
    ]
    changes += _mailbox(ground, notes)
    if ground.places.common is not None and not users:
        data = ground.read_exclude()
        after = None if data is None else take_out_block(data, IGNORES, ground.exclude)
        changes.append(FileChange(ground.exclude, data, after, "ignore rules taken out"))
    return Plan(tuple(change for change in joined(changes) if change.before != change.after), tuple(notes))


def _trust_left(ground: Ground) -> list[str]:
    """Say which entries that trust our hooks stay in the person's own configuration, which is not ours to tidy."""
    try:
        path = os.path.join(codex.home_of(ground.env), "config.toml")
        keys = [key.key for key in trust_keys(ground)]
    except RestanteError:
        return []
    hooks = codex.own_config(ground.env).get("hooks")
    states = hooks.get("state") if isinstance(hooks, dict) else None
    left = [key for key in keys if isinstance(states, dict) and key in states]
    if not left:
        return []
    return [
        f"{path} keeps {counted(len(left), 'entry', 'entries')} of trust in our hooks, like "
        f"[hooks.state.{json.dumps(left[0])}]; nothing runs by that any more, and you may delete it"
    ]


def _hooks(ground: Ground, path: str) -> FileChange:
    data = ground.read(path)
    return FileChange(path, data, None if data is None else take_out_hooks(data, path), "hooks taken out")


def _plugin(ground: Ground, path: str) -> FileChange:
    data = ground.read(path)
    return FileChange(path, data, None if is_our_plugin(data) else data, "the plugin")


def _guidance(ground: Ground, name: str) -> FileChange:
    path = os.path.join(ground.root, name)
    # Never through a link: the file it leads to has a name of its own here, or is none of ours.
    data = None if os.path.islink(path) else ground.read(path)
    after = None if data is None else take_out_block(data, GUIDANCE, path)
    return FileChange(path, data, after, "guidance taken out")


def _skill(ground: Ground, place: str) -> FileChange:
    path = os.path.join(ground.root, place)
    data = ground.read(path)
    is_ours = data is not None and (is_our_skill(data) or check_inbox_skill.is_ours(data))
    return FileChange(path, data, None if is_ours else data, "the skill")


def _mailbox(ground: Ground, notes: list[str]) -> list[FileChange]:
    box = os.path.join(ground.root, MAILBOX)
    readme, ignored = os.path.join(box, "README.md"), os.path.join(box, ".gitignore")
    inner = os.path.join(box, ".restante", ".gitignore")
    data = {path: ground.read(path) for path in (readme, ignored, inner)}
    there = data[readme]
    gone = [readme] if there is not None and is_our_readme(there) else []
    left = set(_listed(box)) - {".gitignore", ".restante"} - {os.path.basename(path) for path in gone}
    if left or set(_listed(os.path.dirname(inner))) - {".gitignore"}:
        # The ignore files stay too: without them, git would take the mail for files of the project.
        notes.append(f"mail stays in {box}; delete that directory when it is no longer wanted")
    else:
        gone += [path for path in (ignored, inner) if data[path] == IGNORE_ALL]
    return [FileChange(path, data[path], None, "the mailbox") for path in gone]


def _is_installed(root: str) -> bool:
    try:
        return is_our_readme(read_regular(os.path.join(root, MAILBOX, "README.md"), 4096))
    except OSError:
        return False


def _listed(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []
