"""Who holds up the end of a turn where the original mailbox program is installed too: it, if it runs, else we.

Asked at a checkpoint: what reads hooks and trust is imported only where the original's hook was found.
"""

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from restante.agents.original import is_originals, original_hook_files
from restante.agents.regular import read_regular
from restante.domain.errors import RestanteError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from restante.agents.json_edit import Placed

_OWN_PATH = os.path.join(".codex", "hooks", "codexpigeon_mailbox_hook.py")


class Original(NamedTuple):
    """The original program's hook for one agent program.

    Attributes:
        agent: The agent program.
        files: Where its hook is.
        holds: Whether it runs when a turn ends, and so holds ends.
    """

    agent: str
    files: tuple[str, ...]
    holds: bool

    @property
    def who_holds(self) -> str:
        """One sentence on which of the two programs holds up the end of a turn."""
        if self.holds:
            return "it holds up the end of a turn, ours does not"
        why = (
            "Codex does not run it, untrusted or incomplete as it is"
            if self.agent == "codex"
            else "it does not run when a turn ends"
        )
        return f"{why}, so ours holds up the end of a turn"


def originals(root: str, env: "Mapping[str, str]", agents: "Collection[str]") -> list[Original]:
    """Return what there is of the original program's hooks, for each agent program that has any."""
    found = [(agent, original_hook_files(root, env, agent)) for agent in agents]
    return [Original(agent, tuple(files), original_hook_present(root, env, agent)) for agent, files in found if files]


def original_hook_present(root: str, env: "Mapping[str, str]", agent: str, *, from_hook: bool = False) -> bool:
    """Tell whether an agent program runs the original program's hook when a turn ends in a worktree.

    Being in a file is not enough: Codex skips, in silence, what its person did not trust. Where nothing tells that
    it runs, the answer is no: two reminders are better than none. Never raises.

    Args:
        root: The worktree's top level.
        env: The environment; where the person's own configuration is.
        agent: The agent program.
        from_hook: Whether a hook of ours asks, which proves that hooks run here at all.
    """
    theirs = [
        (path, one)
        for path in original_hook_files(root, env, agent)
        for one in _at_end(path)
        if is_originals(one.entry) and _has_script(one.entry, root)
    ]
    if agent != "codex" or not theirs:
        return bool(theirs)
    from restante.agents import codex

    try:
        config = codex.own_config(env)
    except RestanteError:
        config = {}
    return any(_is_trusted(config, *one) for one in theirs) or (from_hook and _trust_is_bypassed(config, root))


def _trust_is_bypassed(config: "Mapping[str, Any]", root: str) -> bool:
    """Tell, from within a hook of ours, whether Codex runs hooks that nobody trusted: ours is one of those."""
    from restante.agents import codex
    from restante.agents.hookline import is_ours

    path = codex.hooks_files(root)[0]
    ours = [one for one in _at_end(path) if is_ours(one.entry)]
    return bool(ours) and not any(_is_trusted(config, path, one) for one in ours)


def _is_trusted(config: "Mapping[str, Any]", path: str, hook: "Placed") -> bool:
    from restante.agents import codex

    try:
        return codex.is_trusted(config, path, hook)
    except ValueError:
        return False


def _at_end(path: str) -> "list[Placed]":
    from restante.agents.json_edit import hooks_in

    try:
        return [one for one in hooks_in(read_regular(path), path) if one.event == "Stop"]
    except (OSError, RestanteError):
        return []


def _has_script(entry: "Mapping[str, Any]", root: str) -> bool:
    """Tell whether what a hook starts is there; a line that is not as the original writes it is believed."""
    command = entry.get("command")
    if not isinstance(command, str) or "git rev-parse" not in command or _OWN_PATH not in command:
        return True
    return os.path.isfile(os.path.join(root, _OWN_PATH))
