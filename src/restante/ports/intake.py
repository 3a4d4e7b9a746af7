"""What taking in signed mail needs of the world, in domain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from restante.domain.intake import Verified


class Parts(Protocol):
    """A signed file, taken apart."""

    @property
    def state(self) -> str:
        """``ok``, ``malformed`` or ``absent``: what the last line is."""

    @property
    def prefix(self) -> bytes:
        """What is signed; the whole file unless the state is ``ok``."""

    @property
    def value(self) -> str:
        """The signature's text; empty unless the state is ``ok``."""


class Wire(Protocol):
    """Reads messages from bytes that nobody vouches for."""

    def parse(self, raw: bytes) -> dict[str, object]:
        """Return a message's fields, every scalar as text.

        Raises:
            Unreadable: They are no message; nothing of unbounded size was built to find out.
        """

    def signed_part(self, raw: bytes) -> bytes:
        """Return what of a message is, or could be, signed: all of it but a signature in its place."""

    def validate(self, fields: Mapping[str, object], raw: bytes, *, is_framed: bool = True) -> list[str]:
        """Return what is wrong with a message, in the published order and words.

        Args:
            fields: The message.
            raw: Its bytes.
            is_framed: Whether a signature must be the last line; the published gate looks at its structure only.
        """


class Signer(Protocol):
    """Signs what an agent sends."""

    def sign(self, raw: bytes) -> bytes:
        """Return a message with its signature as last line.

        Raises:
            NothingThere: The agent has no key.
            Unsafe: Others can use a key.
            NoCrypto: Signatures cannot be made here.
        """

    def kids(self) -> list[str]:
        """Return the names of the keys it signs with."""


class Verifier(Protocol):
    """What one receiver has decided about whose mail counts."""

    @property
    def mode(self) -> str:
        """``off``, ``warn`` or ``enforce``; ``enforce`` where the receiver's policy cannot be used."""

    @property
    def policy_error(self) -> str | None:
        """Why the receiver's policy cannot be used; everything is held then."""

    def verify(self, raw: bytes, name: str = "") -> Verified:
        """Return what a message's signature proves to this receiver. Raises nothing, whatever the bytes.

        Args:
            raw: The message; more than 1 MiB is never believed.
            name: The name of its file, where it is known: it shows whether the message was sent in this project.
        """


class Inbox(Protocol):
    """The receiver's own inbox, as the reader needs it."""

    def read(self, reference: str) -> bytes:
        """Return the bytes of one waiting message in one bounded read: at most 1 MiB and one byte.

        Raises:
            Unsafe: It is a symbolic link, or lies in another place.
            NothingThere: No such message waits.
            StorageFailed: It cannot be read.
        """

    def keep_snapshot(self, reference: str, raw: bytes) -> None:
        """Write the bytes to a new private file.

        Raises:
            Unsafe: Something is there already.
            StorageFailed: It cannot be written.
        """

    def quarantine(self, reference: str, raw: bytes) -> str:
        """Keep a private copy of a held message as evidence; the same bytes are kept once. Return where.

        The message itself stays as it is.

        Raises:
            StorageFailed: It cannot be written.
        """


class Admission(NamedTuple):
    """An evaluation, as it was written down.

    Attributes:
        record: The audit record; what it says is what counts.
        name: The name of its file; empty where nothing was written, for a replay.
        is_adopted: Whether an earlier record said the same, and nothing new was written.
        superseded: The names of the earlier records that it replaces.
        is_replay: Whether the message was accepted before.
    """

    record: dict[str, object]
    name: str = ""
    is_adopted: bool = False
    superseded: tuple[str, ...] = ()
    is_replay: bool = False


class AuditBook(Protocol):
    """The audit records of one receiver. What a caller learns is on the disk before."""

    def admit(
        self,
        message: Mapping[str, object],
        evaluate: Callable[[Sequence[Mapping[str, object]]], dict[str, object]],
        *,
        now: datetime,
        payload_digest: str = "",
        auth: Mapping[str, object] | None = None,
    ) -> Admission:
        """Evaluate a message against the records that matter to it, alone, and write the outcome down.

        Args:
            message: Its fields.
            evaluate: Gives the audit record, from the earlier records of the message and of its thread.
            now: The time.
            payload_digest: SHA-256 of what is signed, by which an accepted message is remembered even when all
                records are gone.
            auth: What a signature proved, for a new record; ``None`` where nothing was asked of it.

        Raises:
            Damaged: A record of this message or of its thread cannot be read, so that a replay, or a word against it,
                cannot be ruled out.
            Busy: Another process evaluates this message.
            StorageFailed: Nothing was written; the message counts as not evaluated.
        """

    def change(
        self, name: str, edit: Callable[[dict[str, object], Sequence[Mapping[str, object]]], dict[str, object]]
    ) -> dict[str, object]:
        """Change one record, alone and in one step; return it as it is now.

        Args:
            name: The name of its file.
            edit: Gets the record and the other records of the same message; gives the changed one.

        Raises:
            NothingThere: There is no such record.
            Damaged: It cannot be read.
            StorageFailed: It is as it was.
        """

    def attach_auth(self, name: str, auth: Mapping[str, object], digest: str) -> None:
        """Write what a signature proved into a record that has nothing of it yet.

        Args:
            name: The name of its file.
            auth: ``message_auth``.
            digest: SHA-256 of the bytes that were verified.

        Raises:
            Refused: It has one already, or is about other bytes.
            NothingThere: There is no such record.
            Damaged: It cannot be read.
            StorageFailed: It is as it was.
        """

    def history(self, message: Mapping[str, object]) -> list[dict[str, object]]:
        """Return the records of a message and of its thread, each with its file's name under ``audit_file``.

        Raises:
            Damaged: One of them cannot be read.
        """

    def waiting(self) -> list[tuple[str, dict[str, object]]]:
        """Return the records that wait for a person, with the names of their files, the oldest first."""
