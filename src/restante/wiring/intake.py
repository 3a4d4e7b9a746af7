"""Joins what verified intake needs: for a receiver of a tree, and for files wherever somebody names them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.record import runtime_block
from restante.domain.errors import NothingThere, Refused, Unreadable, UsageError
from restante.intake import Intake
from restante.ports.receiving import After, Answer, Begun, PolicyText, Shelved
from restante.stores.files import flocked
from restante.stores.oacp.archive import Archived, archive_message, end_moves
from restante.stores.oacp.audit import AuditStore
from restante.stores.oacp.begun import Ledge
from restante.stores.oacp.delivering import deliver
from restante.stores.oacp.directory import Directory
from restante.stores.oacp.evidence import OwnInbox, quarantine_in
from restante.stores.oacp.index import make_ours, pending
from restante.stores.oacp.layout import AGENTS, INBOX, OURS, PROJECTS, STATE, Tree, find_home
from restante.stores.oacp.ledger import Ledger
from restante.stores.oacp.names import place_of as work_place
from restante.stores.oacp.posting import Letter, prepare
from restante.stores.oacp.reading import MOST_BYTES, read_typed
from restante.stores.oacp.trailer import split_trailer
from restante.system.clock import clock_for
from restante.system.signing.desk import AgentSigner, ReceiverDesk
from restante.system.signing.places import Place
from restante.wiring.trusting import FORM, OacpWire

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from restante.ports import Clock
    from restante.ports.intake import Inbox


_LOCK = "acting.lock"
_WAIT_SECONDS = 30.0


def load_yaml(text: str) -> object:
    """Read YAML with its types, bounded.

    Raises:
        Unreadable: It is none.
    """
    return read_typed(text.encode("utf-8", "surrogatepass"))


def load_file(path: str) -> object:
    """Return what a YAML file of the caller's says.

    Raises:
        UsageError: It cannot be read, or is none.
    """
    try:
        with open(path, "rb") as stream:
            return read_typed(stream.read(MOST_BYTES + 1))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", remedy="name a file that can be read") from None
    except Unreadable as error:
        raise UsageError(f"{path}: {error.message}") from None


class ReceiverParts:
    """An ``intake.IntakeParts`` for an agent of a tree.

    Args:
        home: The tree.
        project: The project.
        receiver: Whose inbox.
        clock: The time.
        environment: Names program and model.
    """

    def __init__(self, home: str, project: str, receiver: str, clock: Clock, environment: Mapping[str, str]) -> None:
        self._tree = Tree(home)
        self._tree.check_agent(project, receiver)
        self.project = project
        self.receiver = receiver
        self.clock = clock
        self.wire = OacpWire()
        self.load = load_yaml
        self.runtime = _runtime(receiver, environment)

    @cached_property
    def inbox(self) -> Inbox:
        """See the protocol."""
        return OwnInbox(self._tree, self.project, self.receiver, self.clock)

    @cached_property
    def verifier(self) -> ReceiverDesk:
        """See the protocol."""
        return ReceiverDesk(Place(self._tree.home, self.project, self.receiver), FORM, self.clock)

    @property
    def policy(self) -> PolicyText:
        """See the protocol."""
        return _policy(self.verifier)

    @cached_property
    def records(self) -> AuditStore:
        """See the protocol."""
        return AuditStore.of_agent(self._tree.home, self.project, self.receiver, Ledger(self._tree.home))

    @cached_property
    def desk(self) -> TreeDesk:
        """See the protocol."""
        return TreeDesk(self._tree, self.project, self.receiver, self.clock, self.verifier)


class TreeDesk:
    """A ``ports.receiving.Desk``: an agent's place in a tree."""

    def __init__(self, tree: Tree, project: str, agent: str, clock: Clock, verifier: ReceiverDesk) -> None:
        self._tree = tree
        self._project = project
        self._agent = agent
        self._clock = clock
        self._verifier = verifier
        self._ledge = Ledge(tree, project, agent)

    def tidy(self) -> None:
        """See the port."""
        with self._tree.open(PROJECTS, self._project, AGENTS, self._agent, INBOX) as inbox:
            end_moves(inbox)
        self._ledge.tidy(self.waiting())

    def waiting(self) -> list[str]:
        """See the port."""
        with self._tree.open(PROJECTS, self._project, AGENTS, self._agent, INBOX) as inbox:
            return sorted(name for name, _ in pending(inbox))

    def path(self, name: str) -> str:
        """See the port."""
        return self._tree.path(PROJECTS, self._project, AGENTS, self._agent, INBOX, name)

    def place(self, name: str, priority: str, kind: str) -> tuple[int, int, str, str]:
        """See the port."""
        return work_place(name, priority, kind)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """See the port."""
        make_ours(self._tree, self._project, self._agent)
        place = self._tree.path(PROJECTS, self._project, STATE, OURS, self._agent, _LOCK)
        with flocked(place, _WAIT_SECONDS):
            yield

    def send(self, answer: Answer, digest: str, after: After) -> str:
        """See the port."""
        letter = Letter(
            self._agent, (answer.to,), answer.type, answer.subject, answer.body, parent=answer.parent, inherits=True
        )
        rules = self._verifier.rules
        if rules.error:
            raise Unreadable(rules.error, remedy="mend the policy; nothing is sent before it can be read")
        signer = AgentSigner(self._tree.home, self._agent, split_trailer, rules.kid) if rules.signs else None
        prepared = prepare(
            self._tree, self._project, letter, now=self._clock.now(), sign=signer.sign if signer else None
        )
        reply = str(prepared.fields["id"])
        self._ledge.note(digest, Begun(reply, after), prepared.name)
        deliver(self._tree, prepared)
        return reply

    def begun(self, digest: str) -> Begun | None:
        """See the port."""
        return self._ledge.find(digest)

    def ended(self, digest: str) -> None:
        """See the port."""
        self._ledge.end(digest)

    def archive(self, name: str, sha256: str) -> Shelved:
        """See the port."""
        done = archive_message(self._tree, self._project, self._agent, name, sha256)
        return Shelved(True, done.path) if isinstance(done, Archived) else Shelved(False, done.reason)


def open_intake(
    project: str,
    receiver: str,
    environment: Mapping[str, str] | None = None,
    *,
    home: str = "",
    directory: str = ".",
    clock: Clock | None = None,
) -> Intake:
    """Open the intake of an agent. Nothing is created by it.

    Args:
        project: The project.
        receiver: The agent.
        environment: Where the home and the time come from; the process's own by default.
        home: The OACP home, where it is named.
        directory: Where a marker of the home is looked for.
        clock: The time.

    Raises:
        UsageError: A name would lead out of the tree.
        NothingThere: There is no such project or agent.
    """
    env = os.environ if environment is None else environment
    place = find_home(directory, env, home)
    return Intake(ReceiverParts(place, project, receiver, clock or clock_for(env), env))


class _NamedPlace(Place):
    """A receiver whose policy lies where somebody says."""

    config_path: str = ""

    @property
    def config(self) -> str:
        return self.config_path

    @property
    def agent_directory(self) -> str:
        return os.path.dirname(self.config_path)

    @property
    def pins(self) -> str:
        return os.path.join(self.agent_directory, "trust", "allowed_signers.yaml")


def receiver_at(path: str, home: str) -> Place | None:
    """Return the receiver to whose directory a file belongs; ``None`` where it is none's of this home."""
    found = os.path.realpath(path)
    way = os.path.relpath(found, os.path.realpath(home)).split(os.sep)
    if len(way) > 4 and way[0] == PROJECTS and way[2] == AGENTS:
        return Place(home, way[1], way[3])
    return None


class GateFiles(NamedTuple):
    """What the gate is called with.

    Attributes:
        config: The receiver's policy.
        message: The message.
        receiver: Who evaluates.
        home: The OACP home.
        audits: The folder of the audit records; empty to write none.
    """

    config: str
    message: str
    receiver: str
    home: str
    audits: str = ""


class _AnyFile:
    """A ``ports.intake.Inbox`` of one file wherever it is."""

    def __init__(self, agent_directory: str, clock: Clock) -> None:
        self._agent_directory = agent_directory
        self._clock = clock

    def read(self, reference: str) -> bytes:
        return read_message(reference)

    def keep_snapshot(self, reference: str, raw: bytes) -> None:
        raise Refused(
            f"{reference}: the gate keeps no snapshot of {len(raw)} bytes", remedy="restante read --snapshot-out"
        )

    def quarantine(self, reference: str, raw: bytes) -> str:
        return quarantine_in(self._agent_directory, os.path.basename(reference), raw, self._clock)


def read_message(path: str) -> bytes:
    """Return a message's bytes in one bounded read, without following a link.

    Raises:
        NothingThere: It is not there.
        Unsafe: It is a symbolic link, or no regular file.
    """
    place, name = os.path.split(os.path.abspath(path))
    with Directory.open(place, ()) as directory:
        found = directory.read(name, MOST_BYTES + 1)
    if found is None:
        raise NothingThere(f"message file does not exist: {path}")
    return found[0]


class FileParts:
    """An ``intake.IntakeParts`` for one message and one policy, wherever they lie."""

    def __init__(self, files: GateFiles, clock: Clock, environment: Mapping[str, str]) -> None:
        self._files = files
        self.receiver = files.receiver
        self.clock = clock
        self.wire = OacpWire()
        self.load = load_yaml
        self.runtime = _runtime(files.receiver, environment)
        place = receiver_at(files.config, files.home)
        if (
            place is None
            or place.receiver != files.receiver
            or os.path.realpath(place.config) != os.path.realpath(files.config)
        ):
            named = _NamedPlace(files.home, place.project if place else "", files.receiver)
            named.config_path = os.path.abspath(files.config)
            place = named
        self._place = place

    @cached_property
    def inbox(self) -> Inbox:
        """See the protocol."""
        return _AnyFile(self._place.agent_directory, self.clock)

    @cached_property
    def verifier(self) -> ReceiverDesk:
        """See the protocol."""
        return ReceiverDesk(self._place, FORM, self.clock)

    @property
    def policy(self) -> PolicyText:
        """See the protocol."""
        return _policy(self.verifier)._replace(path=self._files.config)

    @property
    def desk(self) -> TreeDesk:
        """See the protocol; there is none for a file."""
        raise Refused("a file that somebody names belongs to no inbox", remedy="restante check-inbox")

    @cached_property
    def records(self) -> AuditStore | None:
        """See the protocol."""
        if not self._files.audits:
            return None
        base, name = os.path.split(os.path.abspath(self._files.audits))
        os.makedirs(os.path.join(base, name), exist_ok=True)
        ledger = Ledger(self._files.home) if self._place.project else None
        return AuditStore(base, (name,), self.receiver, project=self._place.project, ledger=ledger)


def open_gate(files: GateFiles, clock: Clock, environment: Mapping[str, str]) -> Intake:
    """Open an intake for the gate alone.

    Raises:
        NothingThere: The policy is not there.
    """
    if not os.path.isfile(files.config):
        raise NothingThere(f"config file does not exist: {files.config}")
    return Intake(FileParts(files, clock, environment))


def _policy(desk: ReceiverDesk) -> PolicyText:
    rules = desk.rules
    # What could not be read at all is malformed, which is something else than a policy that says nothing.
    config = rules.error if rules.error and rules.config is None else rules.config
    return PolicyText(desk.place.config, config, rules.auth.report())


def _runtime(receiver: str, environment: Mapping[str, str]) -> dict[str, object]:
    model, effort = environment.get("OACP_RUNTIME_MODEL", ""), environment.get("OACP_RUNTIME_EFFORT", "")
    return runtime_block(receiver, model, effort)
