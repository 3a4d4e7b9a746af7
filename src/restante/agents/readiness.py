"""Would the hooks of an agent program bring mail in a worktree? What doctor finds, without starting any program."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.agents.checks import hook_lines, switch_line
from restante.agents.ground import AGENTS, Ground
from restante.agents.plugin import has_plugin, plugin_file
from restante.agents.trust import trust_lines
from restante.domain.errors import RestanteError
from restante.domain.facts import Hooks, HookState
from restante.programs import DEFAULTS, PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Mapping

# The further behind, the nearer to bringing mail: what is the best of several is told.
_ORDER = (
    HookState.MISSING,
    HookState.UNREADABLE,
    HookState.OUTDATED,
    HookState.SWITCHED_OFF,
    HookState.UNTRUSTED,
    HookState.CURRENT,
)


def readiness(worktree: str, program: str, bin_dir: str, env: Mapping[str, str], *, etc: str = "/etc") -> Hooks | None:
    """Return how the hooks of a program stand in a worktree.

    Args:
        worktree: Its top level.
        program: The program; empty for the one whose hooks stand best.
        bin_dir: Directory of the guard script and the interpreter.
        env: The environment, for where the program keeps its configuration.
        etc: Directory of what an administrator prescribes.

    Returns:
        ``None`` for a program that nobody installs hooks for.
    """
    if program and program not in AGENTS:
        return None
    if not os.path.isdir(worktree):
        return Hooks(program or AGENTS[0], HookState.ELSEWHERE, f"{worktree} is not on this machine", worktree)
    ground = Ground(os.path.abspath(worktree), bin_dir, dict(env), etc, 0.0)
    found = [Hooks(name, *_state(ground, name), worktree) for name in AGENTS if program in ("", name)]
    if all(one.state is HookState.MISSING for one in found):
        found = [one for one in found if program or one.program in DEFAULTS]
        names, details = ",".join(one.program for one in found), "; ".join(one.detail for one in found)
        return Hooks(names, HookState.MISSING, details, worktree)
    return max(found, key=lambda one: _ORDER.index(one.state))


def _state(ground: Ground, agent: str) -> tuple[HookState, str]:
    try:
        first = plugin_file(ground.root, agent) or ground.hook_files(agent)[0]
        if not (has_plugin(ground, agent) if plugin_file(ground.root, agent) else ground.entries(first)):
            return HookState.MISSING, f"none in {first}"
        for line in hook_lines(ground, agent, [agent]):
            # What else such a file holds wakes sessions, and shows nothing.
            if line.ok is not True and line.name.endswith(": hooks"):
                return HookState.OUTDATED, line.detail
        switch = switch_line(ground, agent)
        if switch.ok is False:
            return HookState.SWITCHED_OFF, switch.detail
        if PROGRAMS[agent].asks_trust:
            for line in trust_lines(ground):
                if line.ok is not True:
                    return HookState.UNTRUSTED, f"{line.name.partition(': ')[2]} is {line.detail}"
    except RestanteError as error:
        return HookState.UNREADABLE, error.message
    return HookState.CURRENT, f"installed in {first}, and nothing keeps it from running them"
