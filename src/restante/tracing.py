"""Tracing a message: why was it not answered? The public Python API for that question, whatever its mailbox.

    >>> from restante import Draft, open_office
    >>> from restante.wiring.tracing import open_tracer
    >>> sent = open_office(".").send(Draft("Leave the auth module alone.")).posted.message
    >>> open_tracer(".").why(sent.id).cause
    'hooks-missing'

A tracer looks into the worktree's mailbox first, then at what was posted to sessions and roles, then into the inboxes
of an OACP tree. It holds no state, marks nothing and tells no word of a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from restante.domain.errors import Damaged, MailboxDeleted, NothingThere
from restante.domain.ids import is_well_formed, resolve
from restante.services import explaining, withholding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from restante.domain.mailbox import Entry, Mark
    from restante.domain.overview import Row
    from restante.domain.why import Explanation
    from restante.ports import Bell, Clock, Mailbox
    from restante.ports.explaining import Surroundings
    from restante.ports.receiving import Records
    from restante.ports.sessions import Window

# What is said where mail of sessions is kept nowhere, which does not end the search.
_NOT_KEPT = "not-kept"


class MarkedMailbox(Protocol):
    """A worktree's mailbox, which knows who gave a mark."""

    @property
    def address(self) -> str:
        """The address as text."""

    def entry(self, message_id: str) -> Entry:
        """Return one message; see ``ports.Mailbox.entry``."""

    def ids(self) -> list[str]:
        """Return the ids of all messages."""

    def reader_of(self, message_id: str, mark: Mark) -> str:
        """Return by whom a message was first noticed or seen; empty where nobody wrote it down."""


class TreeInbox(Protocol):
    """An inbox of an OACP tree."""

    @property
    def project(self) -> str:
        """The project."""

    @property
    def agent(self) -> str:
        """Whose inbox."""

    @property
    def mailbox(self) -> Mailbox:
        """The messages."""

    @property
    def records(self) -> Records:
        """The agent's audit records."""

    def held(self, message_id: str) -> tuple[str, bool]:
        """Return why the agent's policy holds a message unread, empty for not; and whether evidence of it was kept."""


class TracerParts(Protocol):
    """What a tracer is made of."""

    @property
    def clock(self) -> Clock:
        """Where time comes from."""

    @property
    def root(self) -> str:
        """The worktree's top level; empty outside of any."""

    @property
    def mailbox(self) -> MarkedMailbox:
        """The worktree's mailbox."""

    @property
    def bell(self) -> Bell:
        """Its bell."""

    @property
    def window(self) -> Window | None:
        """The caller's window onto mail between sessions; ``None`` where there are none."""

    @property
    def registers(self) -> bool:
        """Whether sessions are registered as they begin."""

    @property
    def surroundings(self) -> Surroundings:
        """What this machine knows besides."""

    def inboxes(self) -> Iterator[TreeInbox]:
        """Yield the inboxes of the OACP tree, where there is one."""


class Tracer:
    """Says why a message was not answered.

    Args:
        parts: What it is made of.
    """

    def __init__(self, parts: TracerParts) -> None:
        self._parts = parts

    def why(self, message: str) -> Explanation:
        """Return why a message was not answered, from what is known at this moment.

        Args:
            message: Its id, or a part that only it has.

        Raises:
            RestanteError: What would have to be looked into cannot be.
        """
        trouble: NothingThere | None = None
        not_kept: Explanation | None = None
        for look in (self._here, self._posted, self._in_tree):
            try:
                found = look(message)
            except NothingThere as error:
                trouble = trouble or error
                continue
            if found is not None and found.cause != _NOT_KEPT:
                return found
            not_kept = not_kept or found
        return not_kept or explaining.unknown(message, trouble, self._parts.clock.now())

    def of_entry(self, entry: Entry) -> Explanation:
        """Return why a message of the worktree's mailbox was not answered."""
        parts = self._parts
        place = explaining.Worktree(
            address=parts.mailbox.address,
            root=parts.root,
            reader_of=parts.mailbox.reader_of,
            is_ringing=parts.bell.is_ringing,
            sessions=self._sessions(),
        )
        owner = parts.window.identity.owner if parts.window else ""
        return explaining.of_worktree(entry, place, parts.surroundings, parts.clock.now(), owner)

    def _here(self, message: str) -> Explanation | None:
        parts = self._parts
        if not parts.root:
            return None
        whole = message if is_well_formed(message, "msg") else resolve(message, parts.mailbox.ids())
        try:
            return self.of_entry(parts.mailbox.entry(whole))
        except (MailboxDeleted, Damaged) as error:
            return explaining.unknown(whole, error, parts.clock.now())

    def _posted(self, message: str) -> Explanation | None:
        return self._parts.window.why(message) if self._parts.window else None

    def _in_tree(self, message: str) -> Explanation | None:
        for inbox in self._parts.inboxes():
            known = inbox.mailbox.ids()
            if message not in known:
                continue
            unproven, has_evidence = inbox.held(message)
            return withholding.explain_intake(
                inbox.mailbox.entry(message),
                inbox.mailbox.address,
                inbox.project,
                inbox.agent,
                inbox.records,
                self._parts.clock.now(),
                unproven=unproven,
                has_evidence=has_evidence,
            )
        return None

    def _sessions(self) -> list[Row] | None:
        """Return the sessions that work in this worktree; ``None`` where none are registered at all."""
        parts = self._parts
        rows = parts.window.sessions() if parts.window else []
        return [row for row in rows if row.session.worktree == parts.root] or ([] if parts.registers else None)
