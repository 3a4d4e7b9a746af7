"""What working off an inbox of signed mail needs of the world beyond reading it, in domain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from restante.ports.intake import AuditBook

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from datetime import datetime

    from restante.autonomy.measuring import Wish


class PolicyText(NamedTuple):
    """A receiver's policy, as it was read.

    Attributes:
        path: Where it lies.
        config: What it says, parsed; ``None`` where there is none.
        auth: What is proven of its signature, as audit records hold it.
    """

    path: str = ""
    config: object = None
    auth: Mapping[str, object] | None = None


class Answer(NamedTuple):
    """What a receiver writes back.

    Attributes:
        to: To whom.
        type: One of the format's types.
        subject: One line.
        body: The text.
        parent: Id of the message that is answered; its conversation is gone on with.
    """

    to: str
    type: str
    subject: str
    body: str
    parent: str


class After(NamedTuple):
    """What follows an answer that is out.

    Attributes:
        file: The message's file.
        record: The audit record that is to be changed; empty for none.
        before: Digest of that record as it was: where it differs, it was changed already.
        wish: What is to be written into it.
        stays: Why the message stays where it is, in a word; empty where it is archived.
    """

    file: str
    record: str = ""
    before: str = ""
    wish: Wish | None = None
    stays: str = ""


class Begun(NamedTuple):
    """An answer, and what follows it.

    Attributes:
        reply: The answer's id.
        after: What follows.
    """

    reply: str
    after: After


class Shelved(NamedTuple):
    """What became of an attempt to archive.

    Attributes:
        is_archived: Whether the message is in the archive, durably.
        text: Its path there, else why it stays as it is.
    """

    is_archived: bool
    text: str


class Records(AuditBook, Protocol):
    """The audit records of one receiver, with what a person's decision needs."""

    def of_message(self, message_id: str) -> list[tuple[str, dict[str, object]]]:
        """Return the records of a message that can be read, the oldest first, with the names of their files."""

    def remember(self, message_id: str, payload_digest: str, now: datetime) -> None:
        """Remember that a person let a message in, so that it is not let in again.

        Raises:
            StorageFailed: It could not be remembered.
        """


class Desk(Protocol):
    """What a receiver does with mail that was read."""

    def tidy(self) -> None:
        """End what killed rounds left of messages that were dealt with; to be called alone."""

    def waiting(self) -> list[str]:
        """Return the names of the messages that wait, whatever is in them."""

    def path(self, name: str) -> str:
        """Return where a message lies."""

    def place(self, name: str, priority: str, kind: str) -> tuple[int, int, str, str]:
        """Return where a message stands in the order of work; smaller is sooner."""

    def alone(self) -> AbstractContextManager[None]:
        """Keep other sessions of this receiver from acting meanwhile; not to be held while somebody thinks.

        Raises:
            Busy: Another one acts for longer than anybody waits.
        """

    def send(self, answer: Answer, digest: str, after: After) -> str:
        """Send an answer to a message, signed where the receiver signs; return its id.

        Args:
            answer: The answer.
            digest: SHA-256 of the message.
            after: What follows; whoever comes after a kill finds it by ``begun`` until ``ended`` is told.

        Raises:
            RestanteError: Nothing was sent.
        """

    def begun(self, digest: str) -> Begun | None:
        """Return what follows an answer to a message that is out already; ``None`` where none is.

        Raises:
            Damaged: One may be out, and what follows it cannot be known.
        """

    def ended(self, digest: str) -> None:
        """Forget what followed an answer: it is done."""

    def archive(self, name: str, sha256: str) -> Shelved:
        """Move a message of just these bytes into the archive, or leave everything as it is."""
