"""Which agents a tree knows and which of them are about: their profiles and status files, looked over and mended.

After OACP 0.5.4, sections 1.2 and 4.7 of the specification.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.instants import parse_instant, show_instant
from restante.domain.errors import NothingThere, RestanteError
from restante.stores.files import create, read_file, replace
from restante.stores.oacp.layout import AGENTS, ARCHIVE, INBOX, PROJECTS, Tree
from restante.stores.oacp.reading import MOST_BYTES, read_typed
from restante.wiring.founding import RUNTIMES, known_agents

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

STATUS = "status.yaml"
_NEEDED = ("runtime", "status", "capabilities", "updated_at")
_STATES = ("available", "busy", "offline")
_STALE_SECONDS = 3600
_STAMP = re.compile(r"^updated_at:.*$", re.MULTILINE)


class Result(NamedTuple):
    """One thing that was looked at.

    Attributes:
        name: What.
        severity: ``ok``, ``skip``, ``warn`` or ``error``.
        message: What was found.
        fix_hint: What to do about it.
    """

    name: str
    severity: str
    message: str
    fix_hint: str = ""

    def report(self) -> dict[str, object]:
        """Return it as the doctor prints it."""
        shown: dict[str, object] = {"name": self.name, "severity": self.severity, "message": self.message}
        return {**shown, "fix_hint": self.fix_hint} if self.fix_hint else shown


class Attendance:
    """The agents of a tree, and of one project of it where one is named.

    Args:
        home: The tree.
        project: The project; empty for none.
        now: The time.
    """

    def __init__(self, home: str, project: str, now: datetime) -> None:
        self._home = home
        self._tree = Tree(home)
        self._project = project
        self._now = now

    def registry(self) -> Iterator[Result]:
        """Tell which agents of projects have no profile in the tree."""
        try:
            found = [(str(one["agent"]), one["projects"]) for one in known_agents(self._home)]
        except RestanteError as error:
            yield Result("registry", "warn", f"registry: {error.message}", error.remedy)
            return
        members = [(agent, len(projects)) for agent, projects in found if isinstance(projects, list) and projects]
        missing = [one for one in members if self._read(AGENTS, one[0], "profile.yaml") is None]
        for agent, count in missing:
            name = f"{agent}/profile.yaml"
            text = f"{name}: missing from instance registry ({count} project membership(s))"
            yield Result(name, "warn", text, "oacp agent sync")
        if not missing:
            total = sum(count for _, count in members)
            yield Result("registry", "ok", f"{len(found)} agent(s), {total} project membership(s): registered")

    def schemas(self, agents: list[str]) -> Iterator[Result]:
        """Tell which status files are malformed; those that are missing are none of it."""
        for agent in agents:
            raw = self._status(agent)
            if raw is None:
                continue
            name = f"{agent}/{STATUS}"
            faults = _faults(raw)
            yield Result(name, "error" if faults else "ok", f"{name}: {'; '.join(faults) or 'valid'}")

    def statuses(self, agents: list[str]) -> Iterator[Result]:
        """Tell which agents say nothing of themselves, or nothing new."""
        for agent in agents:
            name, raw = f"{agent}/{STATUS}", self._status(agent)
            if raw is None:
                yield Result(name, "warn", f"{name}: not found", "oacp doctor --fix makes one")
            elif (age := self._age(raw)) is not None and age > _STALE_SECONDS:
                told = f"{name}: stale (updated {int(age // 3600)}h ago)"
                yield Result(name, "warn", told, "the agent may have ended without saying so")
            else:
                yield Result(name, "ok", f"{name}: present")

    def mend(self, agents: list[str]) -> list[str]:
        """Make inboxes and status files that are missing, and stamp stale ones; return what was done.

        Raises:
            Unsafe: A symbolic link is in the way.
            StorageFailed: Something cannot be made; what was made before is complete.
        """
        done = []
        for agent in agents:
            with self._tree.open(PROJECTS, self._project, AGENTS, agent) as place:
                is_new = place.status(INBOX) is None
                with place.make(INBOX) as inbox:
                    inbox.make(ARCHIVE).close()
                done += [f"Created {agent}/{INBOX}/"] if is_new else []
        for agent in agents:
            path, raw = self._tree.path(PROJECTS, self._project, AGENTS, agent, STATUS), self._status(agent)
            stamp = f'updated_at: "{show_instant(self._now)}"'
            if raw is None:
                runtime = agent if agent in RUNTIMES else "unknown"
                text = f'runtime: {runtime}\nmodel: unknown\nstatus: available\ncurrent_task: ""\ncapabilities: []\n'
                if create(path, f"{text}{stamp}\n".encode()):
                    done.append(f"Created {agent}/{STATUS}")
            elif (age := self._age(raw)) is not None and age > _STALE_SECONDS and _STAMP.search(raw.decode()):
                replace(path, _STAMP.sub(stamp, raw.decode(), count=1).encode())
                done.append(f"Updated {agent}/{STATUS} timestamp")
        return done

    def _status(self, agent: str) -> bytes | None:
        return self._read(PROJECTS, self._project, AGENTS, agent, STATUS)

    def _read(self, *way: str) -> bytes | None:
        try:
            with self._tree.open(*way[:-1]):
                return read_file(self._tree.path(*way), most=MOST_BYTES)
        except NothingThere:
            return None
        except RestanteError as error:
            # It is there, and no file that may be read: neither missing nor valid.
            return f"? {error.message}".encode(errors="replace")

    def _age(self, raw: bytes) -> float | None:
        """Return seconds since a status was written; ``None`` where it does not say."""
        try:
            value = read_typed(raw)
        except RestanteError:
            return None
        at = parse_instant(value.get("updated_at")) if isinstance(value, dict) else None
        return None if at is None else (self._now - at).total_seconds()


def _faults(raw: bytes) -> list[str]:
    try:
        value = read_typed(raw)
    except RestanteError as error:
        return [f"parse error: {error.message}"]
    if not isinstance(value, dict):
        return ["not a mapping"]
    faults = [f"missing required field {name!r}" for name in _NEEDED if name not in value]
    if "status" in value and value["status"] not in _STATES:
        faults.append(f"status {value['status']!r:.40} not in {list(_STATES)}")
    return faults
