"""What a home supplies to join the contract, and what its tests share."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar, cast

from restante.domain.ids import is_well_formed
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement
from restante.testing.fakes import FakeClock, SequentialIds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from restante.domain.errors import RestanteError
    from restante.domain.message import Message
    from restante.domain.receipt import Action, Decision
    from restante.ports import Archive, Ids, Mailbox

ROOMY = Limits(message_bytes=100_000)


class ContractBase:
    """What a home supplies.

    Attributes:
        ids: Ids to build mailboxes with; shared, so that a mailbox opened again does not repeat them.
        persistent: Whether mail outlives the mailbox object.
    """

    ids: ClassVar[Ids] = SequentialIds()
    persistent: ClassVar[bool] = True

    def make_mailbox(self, tmp_path: Path, clock: FakeClock, limits: Limits) -> Mailbox:
        """Open the mailbox whose files are under a directory; the first time it is empty."""
        raise NotImplementedError

    def close(self, mailbox: Mailbox) -> None:
        """Let go of a mailbox, as the end of a process would."""

    def holds(self, body: str) -> bool:  # noqa: ARG002 - for homes that override it
        """Tell whether the home's format can hold a body; what it cannot is refused, and the contract leaves it out."""
        return True

    def is_message_id(self, text: str) -> bool:
        """Tell whether a text is the id of a message in the home's format."""
        return is_well_formed(text, "msg")

    def conversation_of(self, parent: Message) -> str:
        """Return what a draft that answers a message names as its conversation."""
        return parent.id

    def archive_of(self, mailbox: Mailbox) -> Archive | None:
        """Return what archives a mailbox; ``None`` where the home archives nothing."""
        return cast("Archive", mailbox) if hasattr(mailbox, "archive") else None

    def contents(self, tmp_path: Path) -> dict[str, bytes]:
        """Return the bytes that looking must not change, by name. Leave out what only locks."""
        found = {}
        for directory, _, names in os.walk(tmp_path):
            for name in names:
                path = os.path.join(directory, name)
                with open(path, "rb") as file:
                    found[path] = file.read()
        return found

    def reopen(self, mailbox: Mailbox, tmp_path: Path, clock: FakeClock, limits: Limits = ROOMY) -> Mailbox:
        """Close a mailbox and open it again; a home that is not persistent goes on with the one there is."""
        if self.persistent:
            self.close(mailbox)
            self._current = self.make_mailbox(tmp_path, clock, limits)
            return self._current
        return mailbox

    @contextmanager
    def opened(self, tmp_path: Path, limits: Limits = ROOMY) -> Iterator[tuple[Mailbox, FakeClock]]:
        """Open an empty mailbox with a clock of its own, for one test."""
        clock = FakeClock()
        self._current = self.make_mailbox(tmp_path, clock, limits)
        try:
            yield self._current, clock
        finally:
            self.close(self._current)


@contextmanager
def refused_with(kind: type[RestanteError]) -> Iterator[None]:
    """Expect an error of a kind, with a text that a person can read."""
    text = None
    try:
        yield
    except kind as error:
        text = error.message
    assert text is not None, f"{kind.__name__} was not raised"
    assert text


def say(
    message: Message | str,
    decision: Decision | None = None,
    action: Action | None = None,
    summary: str = "",
    notes: str = "",
) -> Acknowledgement:
    """Return an addressee's word on a message."""
    return Acknowledgement(message if isinstance(message, str) else message.id, decision, action, summary, notes)
