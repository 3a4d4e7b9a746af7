"""Makes projects and agents in an OACP tree: what is missing is created, and nothing that is there is touched."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.record import SPEC_VERSION
from restante.domain.errors import Conflict, NothingThere, RestanteError, UsageError
from restante.stores.files import create, failure, read_file, replace
from restante.stores.oacp.layout import AGENTS, ARCHIVE, INBOX, OUTBOX, PROJECTS, STATE, Tree
from restante.stores.oacp.names import AGENT, NAME_HELP, is_project
from restante.stores.oacp.reading import MOST_BYTES, read_typed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

KEEP = ".gitkeep"
_SHELVES = (
    "packets/review",
    "packets/findings",
    "packets/test",
    "packets/deploy",
    "checkpoints",
    "merges",
    "artifacts",
)
_BARE = (STATE, "logs", "memory", "memory/archive")
_PLACES = (INBOX, f"{INBOX}/{ARCHIVE}", OUTBOX, "dead_letter", "audit/autonomy_decisions")
_MEMORY = {
    "project_facts.md": "# Project facts\n\nWhat holds for the whole project: who does what, where things are.\n",
    "decision_log.md": "# Decisions\n\nOne entry a decision: the date, what, and why.\n",
    "open_threads.md": "# Open threads\n\nWhat was begun and is not done.\n",
    "known_debt.md": "# Known debt\n\nWhat is known to be wrong and was left.\n",
}
POLICY = """\
# What may be done without a person. Nothing, as long as this says always_pause.
autonomy:
  default_mode: always_pause
  auto_review_thresholds:
    max_estimated_minutes: 45
    max_expected_files_touched: 5
    destructive_ops: pause
    external_side_effects: pause
    auth_config_or_secrets: pause
    dependency_changes: pause
    public_visibility: pause
    git_push_or_deploy: pause
  allow_without_task_profile: []
  private_repo_allowlist: []
  continuation_grants:
    enabled: false
# Restante's own switches. strict: stop at more than the published words, and look at subject and context keys, too.
restante:
  strict: true
"""
RUNTIMES = ("claude", "codex", "cursor", "gemini")


class Step(NamedTuple):
    """One thing to be made.

    Attributes:
        path: Where.
        operation: ``create_directory``, ``create_file``, ``create_symlink`` or ``ensure_project_membership``.
        content: The file's content.
        target: Where a link leads.
    """

    path: str
    operation: str
    content: bytes = b""
    target: str = ""

    def report(self) -> dict[str, object]:
        """Return it as a plan tells it."""
        shown: dict[str, object] = {"path": self.path, "operation": self.operation}
        return {**shown, "target": self.target} if self.target else shown


class Founding(NamedTuple):
    """What a project is made with.

    Attributes:
        name: The project's name.
        agents: Its agents.
        repo: The repository that it is about; empty for none.
        links: Links from ``artifacts/`` into the repository: source and name.
    """

    name: str
    agents: tuple[str, ...] = ()
    repo: str = ""
    links: tuple[tuple[str, str], ...] = ()


class Founder:
    """Makes projects and agents.

    Args:
        home: The tree.
        now: The time.
    """

    def __init__(self, home: str, now: datetime) -> None:
        self._tree = Tree(home)
        self._now = now

    def root(self, project: str) -> str:
        """Return a project's directory."""
        return self._tree.path(PROJECTS, project)

    def plan_project(self, founding: Founding) -> list[Step]:
        """Return what a project consists of.

        Raises:
            UsageError: A name is none, or a link leads out of the repository.
            Conflict: Something is there already.
        """
        name = founding.name
        if not is_project(name):
            raise UsageError(f"{name!r} is not the name of a project", remedy="give a name without '/' or a dot first")
        for agent in founding.agents:
            _check_agent(agent)
        if founding.links and not founding.repo:
            raise UsageError("--link needs --repo")
        root = self.root(name)
        if os.path.lexists(root):
            raise Conflict(f"project root already exists: {root}")
        repo = os.path.abspath(founding.repo) if founding.repo else None
        steps = [Step(root, "create_directory")]
        for agent in sorted(set(founding.agents)):
            steps += self._agent(root, agent)
        for place in _SHELVES:
            steps += _kept(os.path.join(root, place))
        steps += [Step(os.path.join(root, place), "create_directory") for place in _BARE]
        steps += [
            Step(os.path.join(root, "memory", one), "create_file", text.encode()) for one, text in _MEMORY.items()
        ]
        steps += [_link(root, repo or "", source, target) for source, target in founding.links]
        stamp = self._now.isoformat(timespec="microseconds")
        marker = {"project_name": name, "repo_path": repo, "created_at": stamp, "updated_at": stamp}
        text = json.dumps({**marker, "spec_version": SPEC_VERSION}, indent=2) + "\n"
        steps.append(Step(os.path.join(root, "workspace.json"), "create_file", text.encode()))
        return steps + [self._membership(agent) for agent in sorted(set(founding.agents))]

    def plan_agent(self, project: str, agent: str, runtime: str) -> list[Step]:
        """Return what an agent of a project consists of and lacks.

        Raises:
            UsageError: A name is none.
            NothingThere: There is no such project.
        """
        _check_agent(agent)
        try:
            self._tree.check_project(project)
        except NothingThere as error:
            raise NothingThere(f"Project {project!r} not found at {self.root(project)}", remedy=error.remedy) from None
        root = self.root(project)
        steps = self._agent(root, agent)
        if runtime:
            place = os.path.join(root, AGENTS, agent)
            stamp = f"{self._now:%Y-%m-%dT%H:%M:%SZ}"
            status = f'runtime: {runtime}\nmodel: unknown\nstatus: available\ncurrent_task: ""\ncapabilities: []\n'
            card = f'version: "0.2.0"\nname: "{agent}"\nruntime: "{runtime}"\nmodel: "{runtime}"\n'
            card += f'description: "{agent} agent ({runtime} runtime)"\nskills: []\n'
            status += f'updated_at: "{stamp}"\n'
            steps.append(Step(os.path.join(place, "status.yaml"), "create_file", status.encode()))
            steps.append(Step(os.path.join(place, "agent_card.yaml"), "create_file", card.encode()))
        return [*(one for one in steps if not os.path.lexists(one.path)), self._membership(agent, runtime)]

    def plan_profile(self, agent: str, runtime: str) -> list[Step]:
        """Return what an agent's global profile lacks: all of it, or nothing.

        Raises:
            UsageError: A name is none.
        """
        _check_agent(agent)
        if runtime not in (*RUNTIMES, "human"):
            raise UsageError(f"invalid runtime {runtime!r}", remedy=f"one of: {', '.join(RUNTIMES)}, human")
        step = self._membership(agent, runtime)
        whole = step.content + b"projects: []\n"
        return [] if os.path.lexists(step.path) else [Step(step.path, "create_file", whole)]

    def sync(self) -> tuple[int, int, int]:
        """Note every membership in the global profiles; return how many were made, changed and left as they are.

        Raises:
            StorageFailed: A profile cannot be written.
        """
        made, changed, members = 0, 0, known_agents(self._tree.home)
        for one in members:
            agent, projects = str(one["agent"]), one["projects"]
            step = self._membership(agent)
            is_new = not os.path.lexists(step.path)
            done = [self.apply([step], str(name)) for name in projects] if isinstance(projects, list) else []
            made += is_new and any(done)
            changed += not is_new and any(done)
        return made, changed, len(members) - made - changed

    def apply(self, steps: Sequence[Step], project: str) -> list[str]:
        """Make what is planned; return the paths that were made.

        Raises:
            StorageFailed: Something cannot be made; what was made before is there and complete.
        """
        done = []
        for step in steps:
            try:
                if self._made(step, project):
                    done.append(step.path)
            except OSError as error:
                raise failure(step.path, error) from error
        return done

    def _made(self, step: Step, project: str) -> bool:
        if step.operation == "create_directory":
            is_new = not os.path.isdir(step.path)
            os.makedirs(step.path, exist_ok=True)
            return is_new
        if step.operation == "create_symlink":
            os.symlink(step.target, step.path)
            return True
        os.makedirs(os.path.dirname(step.path), exist_ok=True)
        is_file = step.operation == "create_file"
        is_new = create(step.path, step.content) if is_file else self._join(step, project)
        if is_new:
            # Other agents of the machine read these, as the original lets them.
            os.chmod(step.path, 0o644)
        return is_new

    def _agent(self, root: str, agent: str) -> list[Step]:
        place = os.path.join(root, AGENTS, agent)
        steps = [step for one in _PLACES for step in _kept(os.path.join(place, one))]
        return [*steps, Step(os.path.join(place, "config.yaml"), "create_file", POLICY.encode())]

    def _membership(self, agent: str, runtime: str = "") -> Step:
        path = self._tree.path(AGENTS, agent, "profile.yaml")
        word = runtime or (agent if agent in RUNTIMES else "unknown")
        text = f'version: "0.2.0"\nname: "{agent}"\nruntime: "{word}"\ntrust_level: standard\n'
        return Step(path, "ensure_project_membership", text.encode())

    def _join(self, step: Step, project: str) -> bool:
        """Note in an agent's global profile that it belongs to a project; what else stands there stays."""
        before = read_file(step.path, most=MOST_BYTES)
        if before is None:
            return create(step.path, step.content + f"projects:\n- {json.dumps(project)}\n".encode())
        try:
            profile = read_typed(before)
        except RestanteError:
            return False
        projects = profile.get("projects") if isinstance(profile, dict) else None
        lines = before.decode().splitlines(keepends=True)
        heads = [place for place, line in enumerate(lines) if line.startswith("projects:")]
        if not isinstance(projects, list) or project in projects or len(heads) != 1:
            return False
        if lines[heads[0]].strip() == "projects: []":
            lines[heads[0]] = "projects:\n"
        elif lines[heads[0]].strip() != "projects:":
            return False
        indent = next((one[: one.index("-")] for one in lines[heads[0] + 1 :][:1] if one.lstrip().startswith("-")), "")
        lines.insert(heads[0] + 1, f"{indent}- {json.dumps(project)}\n")
        replace(step.path, "".join(lines).encode())
        return True


def _check_agent(agent: str) -> None:
    if not AGENT.fullmatch(agent):
        raise UsageError(f"{agent!r} is not the name of an agent", remedy=NAME_HELP)


def _kept(path: str) -> list[Step]:
    return [Step(path, "create_directory"), Step(os.path.join(path, KEEP), "create_file")]


def _link(root: str, repo: str, source: str, name: str) -> Step:
    target = os.path.abspath(os.path.join(repo, source))
    parts = name.split("/")
    if not target.startswith(repo + os.sep) or not name or ".." in parts or name.startswith("/"):
        raise UsageError(f"--link {source}:{name} leads out of its place")
    return Step(os.path.join(root, "artifacts", name), "create_symlink", target=target)


def known_agents(home: str, project: str = "") -> list[dict[str, object]]:
    """Return the agents of a tree: name, program, projects."""
    tree = Tree(home)
    projects = [project] if project else tree.projects()
    found: dict[str, list[str]] = {}
    for one in projects:
        for agent in tree.agents(one):
            found.setdefault(agent, []).append(one)
    if not project:
        try:
            with tree.open(AGENTS) as registry:
                for agent in registry.directories():
                    if AGENT.fullmatch(agent):
                        found.setdefault(agent, [])
        except NothingThere:
            pass
    return [{"agent": agent, "runtime": _runtime(tree, agent), "projects": found[agent]} for agent in sorted(found)]


def _runtime(tree: Tree, agent: str) -> str:
    try:
        data = read_file(tree.path(AGENTS, agent, "profile.yaml"), most=MOST_BYTES)
        profile = read_typed(data) if data else None
    except RestanteError:
        return "unknown"
    runtime = profile.get("runtime") if isinstance(profile, dict) else None
    return runtime if isinstance(runtime, str) else "unknown"


def profile_of(home: str, agent: str, project: str = "") -> str:
    """Return an agent's global profile as YAML; with a project, what its card there says is put over it.

    Raises:
        NothingThere: There is no profile.
        Unreadable: It, or the card, is no YAML.
    """
    from restante.stores.oacp.library import yaml

    _check_agent(agent)
    tree = Tree(home)
    shown = _mapping(tree, AGENTS, agent, "profile.yaml")
    if not shown:
        raise NothingThere(f"no profile found for agent {agent!r}", remedy=f"oacp agent init {agent} --runtime NAME")
    card = _mapping(tree, PROJECTS, project, AGENTS, agent, "agent_card.yaml") if project else {}
    shown |= {key: value for key, value in card.items() if value}
    text: str = yaml.dump(shown, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
    return text


def _mapping(tree: Tree, *way: str) -> dict[str, object]:
    with suppress(NothingThere), tree.open(*way[:-1]):
        found = read_typed(read_file(tree.path(*way), most=MOST_BYTES) or b"{}")
        return found if isinstance(found, dict) else {}
    return {}
