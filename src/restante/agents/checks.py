"""The doctor's lines about the agent programs: what is there, what is current, what really runs."""

from __future__ import annotations

import os
import subprocess
from functools import partial
from typing import TYPE_CHECKING, Any

from restante.agents.ground import AGENTS
from restante.agents.guidance import guidance_files, is_current, is_current_skill, is_our_skill
from restante.agents.holding import originals
from restante.agents.hookline import calls_tool, timeouts_of
from restante.agents.managed_block import IGNORES, find_block
from restante.agents.mcp_checks import tool_lines
from restante.agents.plugin import has_plugin, is_ours, plugin_file, plugin_text
from restante.agents.quirks import habits_of
from restante.agents.skill import PLACES
from restante.agents.trust import trust_lines
from restante.domain.errors import RestanteError
from restante.domain.setup import Check
from restante.programs import DEFAULTS, PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from restante.agents.ground import Ground

_INSTALL = "restante install"
# What no command of ours mends.
_BY_HAND = "by hand: "
_AGAIN = f"{_BY_HAND}install Restante again"


def look(ground: Ground) -> list[Check]:
    """Return every line, in the order a person mends things.

    Args:
        ground: The worktree, the installation and the environment.
    """
    installed = [name for name in AGENTS if _our_entries(ground, name)]
    lines = [
        *_guarded("guard", partial(_guard, ground, installed)),
        *_guarded("guidance", partial(_guidance, ground, installed)),
        *_guarded("skill", partial(_skills, ground, installed)),
        *_guarded("ignore rules", partial(_ignore_rules, ground)),
    ]
    for name in AGENTS:
        program, hooks = (
            _program(ground, name),
            _guarded(f"{name}: hooks", partial(hook_lines, ground, name, installed)),
        )
        is_meant = name in (*DEFAULTS, *installed) or program.ok is not None
        if not is_meant and all(line.ok is None for line in hooks):
            continue
        lines += [program, *hooks]
        if name in installed:
            lines.append(switch_line(ground, name))
        if name in installed and PROGRAMS[name].asks_trust:
            lines += _guarded(f"{name}: trust", partial(trust_lines, ground))
    lines += _guarded("tools", partial(tool_lines, ground))
    return [*lines, *_originals(ground)]


def _guarded(name: str, question: Callable[[], Iterator[Check]]) -> list[Check]:
    try:
        return list(question())
    except RestanteError as error:
        return [Check(name, False, error.message, error.remedy)]


def _our_entries(ground: Ground, agent: str) -> dict[str, Any]:
    """Return our entries by event, in the file that the program reads; nothing where it cannot be read."""
    try:
        if has_plugin(ground, agent):
            return {"plugin": plugin_file(ground.root, agent)}
        return next((ground.entries(path) for path in ground.hook_files(agent)[:1]), {})
    except RestanteError:
        return {}


def _program(ground: Ground, agent: str) -> Check:
    name = f"{agent}: program"
    path = habits_of(agent).find(ground.env)
    if path is None:
        return Check(name, None, "not found on PATH")
    answer = _run([path, "--version"], ground.env, ground.timeout)
    if answer is None or answer.returncode != 0:
        return Check(name, False, f"{path} does not answer --version", f"{_BY_HAND}install {agent} again")
    version = answer.stdout.decode(errors="replace").strip().partition("\n")[0]
    return Check(name, True, f"{version} ({path})")


def hook_lines(ground: Ground, agent: str, installed: list[str]) -> Iterator[Check]:
    """Yield what is amiss with a program's hooks, or that they are current: a line for each file that it reads.

    Args:
        ground: The worktree.
        agent: The program.
        installed: The programs that have hooks of ours: the others' are missed only where there are none.
    """
    name, remedy = f"{agent}: hooks", f"{_INSTALL} --agent {agent}"
    # What nobody asked for is not missed.
    missed = agent in installed or (not installed and agent in DEFAULTS)
    if path := plugin_file(ground.root, agent):
        yield _plugin_line(ground, agent, path, missed=missed)
    for path in ground.hook_files(agent):
        there = ground.entries(path)
        if not there:
            yield Check(name, False if missed else None, f"none in {path}", remedy)
            continue
        wanted = ground.wanted(agent, there)
        wrong = [event for event in timeouts_of(agent) if there.get(event) != wanted[event]]
        if wrong:
            yield Check(name, False, f"missing or out of date in {path}: {', '.join(wrong)}", remedy)
        else:
            yield Check(name, True, f"{len(there)} current in {path}")
        if ground.wanted_waiters(agent) != (ground.waiters(path) if ground.waits else {}):
            yield Check(f"{agent}: waiter", False, f"missing or out of date in {path}: no monitor can wake it", remedy)


def _plugin_line(ground: Ground, agent: str, path: str, *, missed: bool) -> Check:
    name, remedy = f"{agent}: hooks", f"{_INSTALL} --agent {agent}"
    data = ground.read(path)
    if data is None:
        return Check(name, False if missed else None, f"none in {path}", remedy)
    if not is_ours(data):
        return Check(name, False, f"{path} is somebody else's", f"{_BY_HAND}give that plugin another name")
    if data != plugin_text(ground.bin_dir, agent):
        return Check(name, False, f"out of date in {path}", remedy)
    return Check(name, True, f"current in {path}")


def switch_line(ground: Ground, agent: str) -> Check:
    """Return whether anything keeps a program from running hooks."""
    path = habits_of(agent).switched_off_by(ground.root, ground.env, ground.etc)
    if path:
        return Check(
            f"{agent}: switch", False, f"{path} keeps {agent} from running them", f"{_BY_HAND}allow hooks in {path}"
        )
    return Check(f"{agent}: switch", True, "hooks are not switched off")


def _guard(ground: Ground, installed: list[str]) -> Iterator[Check]:
    """Run an installed line where there is no mail; only a line that this installation writes is ever run."""
    python = os.path.join(ground.bin_dir, "python")
    script = os.path.join(ground.bin_dir, "restante-hook")
    if not os.access(script, os.R_OK) or not os.access(python, os.X_OK):
        missing = script if not os.access(script, os.R_OK) else python
        yield Check("guard", False, f"{missing} is missing, so checkpoints show nothing", _AGAIN)
        return
    answer = _run([python, "-I", "-c", "import restante.ports"], ground.env, ground.timeout)
    if answer is None or answer.returncode != 0:
        yield Check("guard", False, f"{python} cannot start Restante", _AGAIN)
        return
    for agent in installed:
        there = _our_entries(ground, agent)
        stop = PROGRAMS[agent].own_event("Stop")
        entry = there.get(stop)
        if entry is None or calls_tool(entry) or entry != ground.wanted(agent, there)[stop]:
            continue
        answer = _run_in_empty_worktree(entry["command"], ground)
        if answer is None or answer.returncode != 0 or answer.stdout or answer.stderr:
            said = "did not end" if answer is None else f"ended with {answer.returncode}, said {answer.stderr[:200]!r}"
            yield Check("guard", False, f"the hook of {agent} {said}", _AGAIN)
        else:
            yield Check("guard", True, f"the hook of {agent} ran, silent without mail")


def _run_in_empty_worktree(line: str, ground: Ground) -> subprocess.CompletedProcess[bytes] | None:
    from tempfile import TemporaryDirectory

    env = {key: value for key, value in ground.env.items() if key != "CLAUDE_PROJECT_DIR"}
    try:
        with TemporaryDirectory() as empty:
            os.mkdir(os.path.join(empty, ".git"))
            return _run(["sh", "-c", line], env, ground.timeout, empty)
    except OSError:
        return None


def _run(
    words: list[str], env: dict[str, str], timeout: float, directory: str = "/"
) -> subprocess.CompletedProcess[bytes] | None:
    try:
        return subprocess.run(
            words, env=env, cwd=directory, timeout=timeout, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None


def _guidance(ground: Ground, installed: list[str]) -> Iterator[Check]:
    for path in guidance_files(ground.root, installed or DEFAULTS):
        data = ground.read(path)
        current = None if data is None else is_current(data, ground.bin_dir, path)
        name = f"guidance: {os.path.basename(path)}"
        if current:
            yield Check(name, True, "the block is current")
        else:
            detail = "there is no block" if current is None else "the block is out of date"
            yield Check(name, False, detail, _INSTALL)


def _skills(ground: Ground, installed: list[str]) -> Iterator[Check]:
    for agent in installed:
        path = os.path.join(ground.root, PLACES[agent])
        data = ground.read(path)
        if data is None:
            yield Check(f"skill: {agent}", False, f"none in {path}", f"{_INSTALL} --agent {agent}")
        elif not is_our_skill(data):
            yield Check(f"skill: {agent}", None, f"{path} is somebody else's")
        elif is_current_skill(data, ground.bin_dir):
            yield Check(f"skill: {agent}", True, "current")
        else:
            yield Check(f"skill: {agent}", False, f"{path} is out of date", f"{_INSTALL} --agent {agent}")


def _ignore_rules(ground: Ground) -> Iterator[Check]:
    if ground.places.common is None:
        yield Check("ignore rules", True, "not needed outside a repository")
        return
    path = ground.exclude
    data = ground.read_exclude()
    if data is not None and find_block(data, IGNORES, path) is not None:
        yield Check("ignore rules", True, f"in {path}")
    else:
        yield Check("ignore rules", False, f"none in {path}", _INSTALL)


def _originals(ground: Ground) -> list[Check]:
    return [
        Check("original program", True, f"its hook for {one.agent} is in {', '.join(one.files)}; {one.who_holds}")
        for one in originals(ground.root, ground.env, AGENTS)
    ]
