"""Sends, lists and watches mail of a tree for the verbs of OACP."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import NothingThere, RestanteError, Unreadable, UsageError
from restante.domain.intake import ENFORCE, OFF
from restante.stores.files import read_file
from restante.stores.oacp.delivering import deliver
from restante.stores.oacp.index import Examine, list_inbox
from restante.stores.oacp.layout import AGENTS, INBOX, PROJECTS, Tree
from restante.stores.oacp.posting import Letter, parse_expiry, prepare
from restante.stores.oacp.reading import MOST_BYTES, read_typed
from restante.stores.oacp.trailer import split_trailer
from restante.stores.oacp.watching import Watch, parse_since
from restante.system.signing.desk import AgentSigner, ReceiverDesk, read_pins
from restante.system.signing.places import place_of
from restante.system.watch import DirectoryWatcher
from restante.wiring.trusting import FORM

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from restante.ports import Clock
    from restante.stores.oacp.index import Summary

__all__ = ["Letter", "Listing", "Mail", "Report", "Watch", "parse_expiry", "parse_since"]

_RUNTIMES = ("claude", "codex", "cursor", "gemini", "human")
# What an agent program sets for the processes that it starts.
_MARKS = {
    "codex": ("CODEX_CI", "CODEX_SHELL", "CODEX_THREAD_ID"),
    "claude": ("CLAUDECODE", "CLAUDE_CODE"),
    "gemini": ("GEMINI_CLI", "GEMINI_AGENT"),
}


class Listing(NamedTuple):
    """What waits for an agent.

    Attributes:
        agent: The agent.
        path: Its inbox.
        mode: ``off``, ``warn`` or ``enforce``.
        policy_error: Why its policy cannot be used; all is held then.
        rows: What waits, in the order of work.
    """

    agent: str
    path: str
    mode: str
    policy_error: str | None
    rows: list[Summary]

    def is_held(self, row: Summary) -> bool:
        """Whether nothing of a message may be told."""
        return self.policy_error is not None or (self.mode == ENFORCE and row.standing != "verified")


class Report(NamedTuple):
    """What became of a message that is sent.

    Attributes:
        fields: What it says.
        raw: Its bytes.
        inboxes: Where it is now; empty for a dry run.
        outbox: The sender's copy; empty where there is none.
        kids: The keys that signed it.
        warnings: What the sender should know.
    """

    fields: Mapping[str, str | list[str]]
    raw: bytes
    inboxes: tuple[str, ...] = ()
    outbox: str = ""
    kids: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Mail:
    """The mail of one project.

    Raises:
        UsageError: The name would lead out of the tree.
        NothingThere: There is no such project.
    """

    def __init__(self, home: str, project: str, clock: Clock) -> None:
        self._tree = Tree(home)
        self._tree.check_project(project)
        self.project = project
        self._clock = clock

    def agents(self) -> list[str]:
        """Return the project's agents."""
        return self._tree.agents(self.project)

    def waiting(self, agent: str) -> Listing:
        """Return what waits for an agent."""
        self._tree.check_agent(self.project, agent)
        desk = self._desk(agent)
        rows = list_inbox(self._tree, self.project, agent, examine=examine_of(desk))
        path = self._tree.path(PROJECTS, self.project, AGENTS, agent, INBOX)
        return Listing(agent, path, desk.mode, desk.policy_error, rows)

    def watch(self, agent: str, *, state_id: str, show_archived: bool) -> Watch:
        """Return a subscriber of an agent's inbox."""
        examine = examine_of(self._desk(agent))
        return Watch(self._tree, self.project, agent, state_id=state_id, show_archived=show_archived, examine=examine)

    def ticks(self, agent: str, timeout: float | None) -> Iterator[None]:
        """Tick whenever an agent's inbox may have changed."""
        return DirectoryWatcher(self._tree.path(PROJECTS, self.project, AGENTS, agent, INBOX)).ticks(timeout)

    def send(self, letter: Letter, *, sign: bool, dry_run: bool) -> Report:
        """Send a message, signed where that is asked for or the sender's policy says so.

        Raises:
            RestanteError: Nothing was sent; never is it sent unsigned instead.
        """
        desk = self._desk(letter.sender)
        rules = desk.rules
        if rules.error:
            raise Unreadable(rules.error, remedy="mend the sender's policy; nothing is sent before it can be read")
        signer = None
        if sign or rules.signs:
            signer = AgentSigner(self._tree.home, letter.sender, split_trailer, rules.kid)
        accept = None if desk.mode != ENFORCE else lambda raw: desk.verify(raw).is_verified
        prepared = prepare(
            self._tree,
            self.project,
            letter,
            now=self._clock.now(),
            sign=signer.sign if signer else None,
            accept=accept,
        )
        warnings = (*prepared.warnings, *self._offline(letter))
        kids = tuple(signer.kids()) if signer else ()
        if dry_run:
            return Report(prepared.fields, prepared.raw, kids=kids, warnings=warnings)
        done = deliver(self._tree, prepared)
        return Report(prepared.fields, prepared.raw, done.inboxes, done.outbox, kids, warnings)

    def sender(self, environment: Mapping[str, str]) -> str:
        """Return who sends, where nobody says: by the environment, else the only agent with this program's card.

        Raises:
            UsageError: It cannot be told.
        """
        for name in ("OACP_AGENT", "AGENT_NAME"):
            if environment.get(name):
                return environment[name]
        runtime = runtime_of(environment)
        found = [one for one in self.agents() if runtime and self._card(one, "agent_card.yaml", "runtime") == runtime]
        if len(found) == 1:
            return found[0]
        raise UsageError("cannot tell who sends", remedy="--from, or OACP_AGENT")

    def _offline(self, letter: Letter) -> list[str]:
        gone = [one for one in letter.to if self._card(one, "status.yaml", "status") == "offline"]
        urgent = " and this is P0" if letter.priority == "P0" else ""
        return [f"recipient {one!r} says that it is offline{urgent}" for one in gone]

    def _card(self, agent: str, name: str, key: str) -> str:
        try:
            data = read_file(self._tree.path(PROJECTS, self.project, AGENTS, agent, name), most=MOST_BYTES)
            card = read_typed(data) if data else None
        except RestanteError:
            return ""
        value = card.get(key) if isinstance(card, dict) else None
        return value if isinstance(value, str) else ""

    def _desk(self, agent: str) -> ReceiverDesk:
        return ReceiverDesk(place_of(self._tree.home, self.project, agent), FORM, self._clock)


def examine_of(desk: ReceiverDesk) -> Examine | None:
    """Return the look at a message's signature before anything is read of it; ``None`` where nobody wants one."""
    if desk.mode == OFF and desk.policy_error is None:
        return None
    pins = read_pins(desk.place, FORM)
    facts = (desk.mode, desk.policy_error, desk.rules.is_strict, sorted(pins[0].items()), pins[1])
    is_enforced = desk.mode == ENFORCE or desk.policy_error is not None

    def judge(raw: bytes) -> tuple[str, bool]:
        verified = desk.verify(raw)
        return verified.status, verified.is_verified or not is_enforced

    return Examine(hashlib.sha256(repr(facts).encode()).hexdigest()[:32], judge)


def runtime_of(environment: Mapping[str, str]) -> str:
    """Return which agent program runs this process; empty where nothing says."""
    said = environment.get("OACP_RUNTIME", "")
    if said in _RUNTIMES:
        return said
    return next((name for name, marks in _MARKS.items() if any(environment.get(one) for one in marks)), "")


def projects_with(home: str, agent: str) -> list[str]:
    """Return the projects in which an agent has an inbox."""
    tree = Tree(home)
    found = []
    for project in tree.projects():
        try:
            tree.open_agent(project, agent, INBOX).close()
        except NothingThere:
            continue
        found.append(project)
    return found
