"""Teaching agent programs about a worktree's mailbox, by files they read; and unteaching them.

Everything is worked out first, from bytes to bytes, and refused as a whole where a file is not what it
should be. Nothing is remembered beside the files: what was there before can be told from what is there.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.agents import check_inbox_skill, mcp_servers
from restante.agents.calling import command_name
from restante.agents.files import apply_changes, joined
from restante.agents.gitplaces import other_worktrees
from restante.agents.ground import AGENTS, MAILBOX, Ground
from restante.agents.guidance import IGNORE_ALL, README, block_lines, guidance_files, is_our_readme, is_our_skill
from restante.agents.holding import originals
from restante.agents.hookline import is_waiter
from restante.agents.json_edit import put_hooks, take_out_hooks
from restante.agents.managed_block import GUIDANCE, IGNORES, find_block, put_block
from restante.agents.plugin import is_ours as is_our_plugin
from restante.agents.plugin import plugin_file, plugin_text
from restante.agents.quirks import habits_of
from restante.agents.skill import PLACES, skill_files
from restante.domain.errors import RestanteError, Unreadable, UsageError
from restante.domain.setup import FileChange, Plan
from restante.programs import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from restante.domain.setup import Check

_BOM = b"\xef\xbb\xbf"
_SKILLS = {
    place: b"/" + os.path.dirname(place).encode() + b"/"
    for place in (*PLACES.values(), *check_inbox_skill.PLACES.values())
}
_SERVERS = tuple(f"/{place.file}".encode() for place in mcp_servers.PLACES.values())
_HOOKS = tuple(
    f"/{place}".encode() for one in PROGRAMS.values() if (place := one.plugin.file if one.plugin else one.settings)
)
_RULES = tuple(dict.fromkeys((b"/.codex-mailbox/", *_HOOKS, *_SKILLS.values(), *_SERVERS)))


class FileInstaller:
    """Teaches agent programs about one worktree's mailbox. A ``ports.Installer``.

    Args:
        worktree: The worktree's top level, as the person names it.
        bin_dir: Directory of the guard script and the interpreter.
        env: The environment; HOME, CODEX_HOME, PATH and SHELL are looked at, and only when needed.
        etc: Directory of what an administrator prescribes.
        timeout: Seconds that ``checks`` gives another program to answer.
        waits: Whether mailboxes are monitored on this machine: only there the programs get a waiter.
    """

    def __init__(
        self,
        worktree: str,
        bin_dir: str,
        env: Mapping[str, str],
        *,
        etc: str = "/etc",
        timeout: float = 10.0,
        waits: bool = False,
    ) -> None:
        self._ground = Ground(os.path.abspath(worktree), bin_dir, dict(env), etc, timeout, waits)

    def plan_install(self, agents: Sequence[str], *, intake: bool = False, tools: str = "") -> Plan:
        """Return what installing changes. An empty plan means that all is there.

        Args:
            agents: Which agent programs.
            intake: Also the skill that works off an OACP inbox; where it is there, it is kept current anyway.
            tools: ``tools`` for also the server of tools, and ``hooks`` for checkpoints that call it, too; where they
                are there, they are kept current anyway.

        Raises:
            UsageError: An agent program is unknown, or none is named.
            BadText: The installation's directory has a name that cannot stand in a settings file.
            Unreadable: A file is not what it should be; it is named with the line.
            Unsafe: A file, or a directory on the way to it, is a symbolic link.
        """
        unknown = [name for name in agents if name not in AGENTS]
        if unknown or not agents:
            raise UsageError(
                f"unknown agent program {unknown[0]!r}" if unknown else "no agent program is named",
                remedy=f"name some of: {', '.join(AGENTS)}",
            )
        ground = self._ground
        agents = [name for name in AGENTS if name in agents]
        hooks = [change for name in agents for change in self._hooks(name, tools)]
        servers, notes = mcp_servers.changes(
            ground.root, ground.bin_dir, ground.env, agents, is_wanted=bool(tools), earlier=hooks
        )
        skills = [*self._skills(agents), *self._intake_skills(agents, wanted=intake)]
        changes = [
            *self._ignore_rules(hooks, skills, servers),
            *self._mailbox(),
            *self._guidance(agents),
            *hooks,
            *skills,
            *servers,
        ]
        changes = [change for change in joined(changes) if change.before != change.after]
        if tools == "hooks":
            notes += [
                f"{PROGRAMS[name].title}'s hooks are shared with another worktree, which may have no such server: they "
                "stay commands"
                for name in agents
                if habits_of(name).borrows and self._shares_hooks()
            ]
        return Plan(tuple(changes), (*self._notes(agents, intake=intake), *notes))

    def plan_uninstall(self) -> Plan:
        """Return what removing everything of ours changes; mail stays where it is. Raises as ``plan_install``."""
        from restante.agents.removing import plan_removal

        return plan_removal(self._ground)

    def apply(self, plan: Plan) -> None:
        """Make all changes or none.

        Raises:
            Conflict: A file changed since the plan was made.
            StorageFailed: A file cannot be written; all are as before.
        """
        places = self._ground.places
        apply_changes(plan.changes, keep={places.root, places.hooks_root, places.common or places.root})

    def plan_trust(self) -> Plan:
        """Return the changes to the person's Codex configuration that make our hooks run.

        Raises:
            NothingThere: No hook of ours is installed for Codex.
            UsageError: The environment does not say where the configuration is.
            Unreadable: The configuration, or the hooks file, is not what it should be.
        """
        from restante.agents.trust import plan_trust

        return plan_trust(self._ground)

    def checks(self) -> list[Check]:
        """Look at what is installed; runs the agent programs for their versions, and the guard once."""
        from restante.agents.checks import look

        return look(self._ground)

    def _shares_hooks(self) -> bool:
        """Tell whether hooks that worktrees share are read for others, too, or those of another for this one."""
        places = self._ground.places
        others = other_worktrees(places)
        return places.borrows_hooks or any(os.path.isdir(os.path.join(one, MAILBOX)) for one in others)

    def _hooks(self, agent: str, tools: str) -> list[FileChange]:
        ground, changes = self._ground, []
        by_tool = tools == "hooks" if tools else None
        habits = habits_of(agent)
        if habits.borrows and by_tool is not False and self._shares_hooks():
            by_tool = False
        if path := plugin_file(ground.root, agent):
            data = ground.read(path)
            after = plugin_text(ground.bin_dir, agent) if data is None or is_our_plugin(data) else data
            changes.append(FileChange(path, data, after, f"the plugin for {agent}"))
        for path in ground.hook_files(agent):
            data = ground.read(path)
            if habits.refuses_mark and data is not None and data.startswith(_BOM):
                raise Unreadable(
                    f"{path}:1: a byte order mark, which makes {PROGRAMS[agent].title} reject the whole file",
                    remedy="save it without one; nothing was changed",
                )
            wanted = ground.wanted(agent, ground.entries(path), by_tool=by_tool)
            after = put_hooks(data, wanted, path, only=habits.only_keys)
            after = put_hooks(after, ground.wanted_waiters(agent), path, only=habits.only_keys, is_it=is_waiter)
            changes.append(FileChange(path, data, after, f"hooks for {agent}"))
        return changes

    def _skills(self, agents: Sequence[str]) -> list[FileChange]:
        """Return the changes that teach the programs' skill; a file of that name that is not ours stays as it is."""
        texts = skill_files(command_name(self._ground.bin_dir, self._ground.env))
        changes = []
        for place in dict.fromkeys(PLACES[name] for name in AGENTS if name in agents):
            path = os.path.join(self._ground.root, place)
            data = self._ground.read(path)
            after = texts[place].encode("utf-8", "surrogateescape") if data is None or is_our_skill(data) else data
            changes.append(FileChange(path, data, after, "the skill"))
        return changes

    def _intake_skills(self, agents: Sequence[str], *, wanted: bool) -> list[FileChange]:
        """Return the changes that teach the programs to work off an OACP inbox, where that is wanted or was."""
        command = command_name(self._ground.bin_dir, self._ground.env)
        changes = []
        # Programs that share a directory of skills share this one, in the name of the first.
        places = {check_inbox_skill.PLACES[name]: name for name in reversed(AGENTS) if name in agents}
        for place, name in reversed(places.items()):
            path = os.path.join(self._ground.root, place)
            data = self._ground.read(path)
            after = data
            if wanted if data is None else check_inbox_skill.is_ours(data):
                after = check_inbox_skill.skill_text(command, name).encode("utf-8", "surrogateescape")
            changes.append(FileChange(path, data, after, "the skill check-inbox"))
        return changes

    def _ignore_rules(
        self, hooks: Sequence[FileChange], skills: Sequence[FileChange], servers: Sequence[FileChange]
    ) -> list[FileChange]:
        """Return the change to git's own list of ignored files.

        A file that holds more than our hooks, or our server, is not listed: it is the person's, who may want to commit
        it.
        """
        ground = self._ground
        if ground.places.common is None:
            return []
        data = ground.read_exclude()
        block = None if data is None else find_block(data, IGNORES, ground.exclude)
        rules = {_RULES[0], *(block.lines[1:-1] if block else ())}
        for change in hooks:
            if _is_ours_alone(change):
                rules |= {rule for rule in _RULES if change.path.endswith(rule.decode())}
        for change in skills:
            if change.after is not None and (is_our_skill(change.after) or check_inbox_skill.is_ours(change.after)):
                rules |= {rule for place, rule in _SKILLS.items() if change.path.endswith(f"/{place}")}
        for change in servers:
            if mcp_servers.holds_only_ours(change):
                rules |= {rule for rule in _RULES if change.path.endswith(rule.decode())}
        after = put_block(data, tuple(rule for rule in _RULES if rule in rules), IGNORES, ground.exclude)
        return [FileChange(ground.exclude, data, after, "ignore rules")]

    def _mailbox(self) -> list[FileChange]:
        changes = []
        for name in (".gitignore", os.path.join(".restante", ".gitignore"), "README.md"):
            path = os.path.join(self._ground.root, MAILBOX, name)
            data = self._ground.read(path)
            if name == "README.md":
                after = README if data is None or is_our_readme(data) else data
            else:
                after = IGNORE_ALL if data is None else data
            changes.append(FileChange(path, data, after, "the mailbox"))
        return changes

    def _guidance(self, agents: Sequence[str]) -> list[FileChange]:
        lines = block_lines(command_name(self._ground.bin_dir, self._ground.env))
        changes = []
        for path in guidance_files(self._ground.root, agents):
            data = self._ground.read(path)
            changes.append(FileChange(path, data, put_block(data, lines, GUIDANCE, path), "guidance for the agent"))
        return changes

    def _notes(self, agents: Sequence[str], *, intake: bool) -> list[str]:
        ground = self._ground
        notes = [
            f"{path} holds the hook of the original mailbox program; it stays, and {one.who_holds}"
            for one in originals(ground.root, ground.env, agents)
            for path in one.files
        ]
        for path in dict.fromkeys(os.path.join(ground.root, PLACES[name]) for name in AGENTS if name in agents):
            data = ground.read(path)
            if data is not None and not is_our_skill(data):
                notes.append(f"{path} is a skill of the same name that is not ours; it stays")
        for path in dict.fromkeys(
            os.path.join(ground.root, check_inbox_skill.PLACES[name]) for name in AGENTS if name in agents
        ):
            data = ground.read(path) if intake else None
            if data is not None and not check_inbox_skill.is_ours(data):
                notes.append(f"{path} is a skill of the same name that is not ours; it stays")
        for name in agents:
            habits, title = habits_of(name), PROGRAMS[name].title
            notes += habits.notes(ground.places)
            if PROGRAMS[name].asks_trust and not self._is_trusted():
                notes.append(
                    f"{title} skips hooks in silence until you have trusted them: answer when it asks, "
                    "or run restante install --trust"
                )
            if not PROGRAMS[name].asks_trust and (path := habits.switched_off_by(ground.root, ground.env, ground.etc)):
                notes.append(f"{path} keeps {title} from running hooks")
            path = plugin_file(ground.root, name)
            if path and (data := ground.read(path)) is not None and not is_our_plugin(data):
                notes.append(f"{path} is somebody else's; it stays, and {title} shows no mail here")
        return notes

    def _is_trusted(self) -> bool:
        try:
            return not self.plan_trust().changes
        except RestanteError:
            return False


def _is_ours_alone(change: FileChange) -> bool:
    """Tell whether a file of hooks, or a plugin, holds nothing but what is ours."""
    if change.after is None or not change.path.endswith(".json"):
        return is_our_plugin(change.after)
    return take_out_hooks(change.after, change.path) is None
