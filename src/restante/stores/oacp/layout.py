"""Where an OACP tree keeps things: its home, projects and agents. No name leads out of it."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import NothingThere, UsageError
from restante.stores.oacp.directory import Directory
from restante.stores.oacp.names import AGENT, NAME_HELP, is_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

PROJECTS = "projects"
AGENTS = "agents"
INBOX = "inbox"
ARCHIVE = "archive"
OUTBOX = "outbox"
STATE = "state"
# What is ours lies beside what the format knows; other programs pass it over.
OURS = "restante"
_MARKERS = (".oacp", "workspace.json")
_MOST_MARKER = 65_536


class Workspace(NamedTuple):
    """A project of a tree.

    Attributes:
        home: The tree.
        project: The project's name.
    """

    home: str
    project: str


def find_home(directory: str, environment: Mapping[str, str], explicit: str = "") -> str:
    """Return the absolute path of the tree that is meant: named, else ``OACP_HOME``, else marked, else ``~/oacp``.

    Args:
        directory: Where to look for a marker, upwards.
        environment: The process's.
        explicit: What the caller was given; empty for nothing.
    """
    chosen = explicit or environment.get("OACP_HOME", "")
    if not chosen:
        marked = find_workspace(directory)
        chosen = marked.home if marked else "~/oacp"
    if chosen == "~" or chosen.startswith("~/"):
        chosen = environment.get("HOME", os.path.expanduser("~")) + chosen[1:]
    return os.path.abspath(os.path.join(directory, chosen))


def find_workspace(directory: str) -> Workspace | None:
    """Return the project that a directory, or the nearest one above it, is marked with.

    A marker is ``.oacp`` or ``workspace.json`` that is, or leads to, ``<home>/projects/<project>/workspace.json``.
    """
    place = os.path.abspath(directory)
    while True:
        for marker in _MARKERS:
            found = os.path.realpath(os.path.join(place, marker))
            project_place, name = os.path.split(found)
            projects, project = os.path.split(project_place)
            if name == "workspace.json" and os.path.basename(projects) == PROJECTS and os.path.isfile(found):
                return Workspace(os.path.dirname(projects), project)
        above = os.path.dirname(place)
        if above == place:
            return None
        place = above


def named_project(directory: str) -> str:
    """Return the project that a marker in a directory itself names; a ``.oacp`` file of JSON counts too."""
    for marker in _MARKERS:
        try:
            content = json.loads(_regular(os.path.join(directory, marker)))
        except (OSError, ValueError, RecursionError):
            continue
        name = content.get("project_name") if isinstance(content, dict) else None
        if isinstance(name, str) and is_project(name):
            return name
    return ""


def _regular(path: str) -> bytes:
    """Return what a marker says, which may be a link; a FIFO in its place must not hold anybody up."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        return file.read(_MOST_MARKER) if stat.S_ISREG(os.fstat(fd).st_mode) else b""


class Tree:
    """A tree. Nothing is created or followed by looking.

    Args:
        home: Its absolute path. That one may be a symbolic link; nothing below it may.
    """

    def __init__(self, home: str) -> None:
        self.home = home

    def path(self, *names: str) -> str:
        """Return a path below the home as text, for people and for files of ours."""
        return os.path.join(self.home, *names)

    def open(self, *names: str) -> Directory:
        """Open a directory below the home.

        Raises:
            NothingThere: It is not there.
            Unsafe: A part of the way is a symbolic link.
            StorageFailed: It cannot be opened.
        """
        return Directory.open(self.home, names)

    def open_agent(self, project: str, agent: str, *names: str) -> Directory:
        """Open a directory of an agent's; see ``check_agent`` and ``open``."""
        _check_names(project, agent)
        try:
            return self.open(PROJECTS, project, AGENTS, agent, *names)
        except NothingThere:
            self.check_agent(project, agent)
            raise

    def projects(self) -> list[str]:
        """Return the names of all projects; none where there is no tree."""
        return self._names(is_project, PROJECTS)

    def agents(self, project: str) -> list[str]:
        """Return the names of a project's agents; see ``check_project``."""
        self.check_project(project)
        return self._names(lambda name: AGENT.fullmatch(name) is not None, PROJECTS, project, AGENTS)

    def check_project(self, project: str) -> None:
        """Refuse what is no project of this tree.

        Raises:
            UsageError: The name could lead out of the tree.
            NothingThere: There is no such project; the error names those that are spelt like it.
        """
        _check_names(project)
        try:
            self.open(PROJECTS, project).close()
        except NothingThere:
            raise unknown("project", project, self.projects(), self.path(PROJECTS)) from None

    def check_agent(self, project: str, agent: str) -> None:
        """Refuse what is no agent of a project; raises as ``check_project`` does."""
        _check_names(project, agent)
        try:
            self.open(PROJECTS, project, AGENTS, agent).close()
        except NothingThere:
            self.check_project(project)
            raise unknown("agent", agent, self.agents(project), f"project {project}") from None

    def _names(self, is_one: Callable[[str], bool], *place: str) -> list[str]:
        try:
            with self.open(*place) as directory:
                return sorted(name for name in directory.directories() if is_one(name))
        except NothingThere:
            return []


def _check_names(project: str, agent: str | None = None) -> None:
    if agent is not None and not AGENT.fullmatch(agent):
        raise UsageError(f"{agent!r} is not the name of an agent", remedy=NAME_HELP)
    if not is_project(project):
        raise UsageError(f"{project!r} is not the name of a project", remedy="give a name without '/' or a dot first")


def unknown(what: str, name: str, known: Iterable[str], place: str) -> NothingThere:
    """Return the error for a name that nothing has, with the names that are spelt like it."""
    import difflib

    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        remedy = f"did you mean {' or '.join(near)}?"
    elif names:
        remedy = f"there are: {', '.join(names[:10])}" + (", …" if len(names) > 10 else "")
    else:
        remedy = "there are none yet"
    return NothingThere(f"no {what} {name!r} in {place}", remedy=remedy)
