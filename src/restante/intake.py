"""Verified intake: the public Python API for one receiver's inbox in an OACP tree.

    >>> from restante.wiring.intake import open_intake
    >>> from restante.wiring.founding import Founder, Founding
    >>> from restante.system.clock import SystemClock
    >>> founder = Founder("oacp", SystemClock().now())
    >>> made = founder.apply(founder.plan_project(Founding("demo", ("alice", "codex"))), "demo")
    >>> intake = open_intake("demo", "codex", {"OACP_HOME": "oacp"})
    >>> intake.drain(ask=lambda inquiry: None, tell=print).text("demo")
    'Inbox empty - no messages to process.'

An intake holds no state of its own but what its parts keep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from restante.autonomy.policy import parse_policy
from restante.domain.errors import NoSuchMessage, StorageFailed
from restante.domain.inquiry import Ruling
from restante.services import approving, gating
from restante.services.draining import Acts, Round
from restante.services.intake import read_verified

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from restante.autonomy.finalize import Finalized
    from restante.autonomy.measuring import Wish
    from restante.domain.inquiry import Closing, Inquiry, Step, Word
    from restante.domain.intake import Intake as Taken
    from restante.ports import Clock
    from restante.ports.intake import Inbox, Verifier, Wire
    from restante.ports.receiving import Desk, PolicyText, Records, Shelved
    from restante.services.approving import Paused
    from restante.services.gating import Gated


class IntakeParts(Protocol):
    """What an intake is made of."""

    @property
    def receiver(self) -> str:
        """Whose inbox."""

    @property
    def clock(self) -> Clock:
        """Where time comes from."""

    @property
    def inbox(self) -> Inbox:
        """The messages."""

    @property
    def verifier(self) -> Verifier:
        """Whose mail counts."""

    @property
    def wire(self) -> Wire:
        """Reads the format."""

    @property
    def policy(self) -> PolicyText:
        """What may be done without a person."""

    @property
    def records(self) -> Records | None:
        """The audit records; ``None`` where none are kept."""

    @property
    def desk(self) -> Desk:
        """The way of mail in and out."""

    @property
    def load(self) -> Callable[[str], object]:
        """Reads YAML with its types."""

    @property
    def runtime(self) -> Mapping[str, object]:
        """Which program and model evaluates."""


class Intake:
    """Everything that can be asked about one receiver's mail."""

    def __init__(self, parts: IntakeParts) -> None:
        self._parts = parts

    @property
    def mode(self) -> str:
        """``off``, ``warn`` or ``enforce``."""
        return self._parts.verifier.mode

    def read(self, reference: str, *, snapshot: str = "", dispose: bool = False) -> Taken:
        """Read one message so that it is safe to show; see ``services.intake.read_verified``."""
        parts = self._parts
        return read_verified(reference, parts.inbox, parts.verifier, parts.wire, snapshot=snapshot, dispose=dispose)

    def gate(self, taken: Taken, *, actuals: object = None) -> Gated:
        """Say whether work on a message may start without a person; see ``services.gating.gate``."""
        parts = self._parts
        return gating.gate(
            taken,
            parts.policy,
            parts.records,
            now=parts.clock.now(),
            receiver=parts.receiver,
            load=parts.load,
            runtime=parts.runtime,
            actuals=actuals,
        )

    def archive(self, name: str, sha256: str) -> Shelved:
        """Move a message of just these bytes into the archive, or leave everything as it is."""
        return self._parts.desk.archive(name, sha256)

    def approvals(self) -> list[Paused]:
        """Return the work that waits for a person, the oldest first."""
        return approving.waiting(self._records)

    def find_approval(self, reference: str) -> Paused:
        """Return one of them; see ``services.approving.find``."""
        return approving.find(self._records, reference)

    def record(self, name: str) -> dict[str, object]:
        """Return the audit record of work that waits.

        Raises:
            NoSuchMessage: None of that name waits.
        """
        for known, record in self._records.waiting():
            if known == name:
                return dict(record)
        raise NoSuchMessage(f"nothing waits for a person under {name!r:.120}", remedy="it may have been decided")

    def decide(self, record: str, ruling: Ruling) -> dict[str, object]:
        """Write a person's decision; see ``services.approving.decide``."""
        return approving.decide(self._records, record, ruling, self._payload, now=self._parts.clock.now())

    def remember(self, record: Mapping[str, object]) -> None:
        """Remember that a person let the message of a record in, so that it is not let in again.

        Raises:
            StorageFailed: It could not be remembered.
        """
        now = self._parts.clock.now()
        self._records.remember(str(record.get("message_id") or ""), self._payload(record), now)

    def drain(self, ask: Callable[[Inquiry], Word | None], tell: Callable[[Step], None]) -> Closing:
        """Work off the inbox; see ``services.draining.Round``."""
        parts = self._parts
        acts = Acts(
            read=lambda name: self.read(parts.desk.path(name), dispose=True),
            gate=self.gate,
            decide=self._answered,
            conclude=self._concluded,
            desk=parts.desk,
            records=self._records,
            clock=parts.clock,
            receiver=parts.receiver,
            grants_enabled=parse_policy(parts.policy.config).grants_enabled,
        )
        return Round(acts, ask, tell).run()

    def _payload(self, record: Mapping[str, object]) -> str:
        """Return by which digest the message of a record is remembered: of what is signed, where it still waits."""
        digest = str(record.get("message_sha256") or "")
        taken = self.read(str(record.get("message_path") or ""))
        return taken.payload_digest if taken.digest == digest else digest

    def _answered(self, record: str, decision: str, word: Word) -> dict[str, object]:
        return self.decide(record, Ruling(decision, word.actor, word.note, word.grant))

    def _concluded(self, record: str, wish: Wish, rehearse: bool) -> Finalized:
        parts = self._parts
        wish = wish._replace(runtime=dict(parts.runtime))
        now = parts.clock.now()
        return approving.conclude(self._records, record, wish, parts.policy, now=now, rehearse=rehearse)

    @property
    def _records(self) -> Records:
        records = self._parts.records
        if records is None:
            raise StorageFailed("no audit records are kept here", remedy="name a project and an agent")
        return records
