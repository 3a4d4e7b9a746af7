"""Verified intake: the public Python API for one receiver's inbox in an OACP tree.

    >>> from restante.wiring.intake import open_intake
    >>> intake = open_intake("demo", "codex", {"OACP_HOME": "oacp"})
    >>> [step.text for step in intake.drain(lambda ask: None)]

An intake holds no state of its own but what its parts keep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from restante.services import gating
from restante.services.intake import read_verified

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from restante.domain.intake import Intake as Taken
    from restante.ports import Clock
    from restante.ports.intake import Inbox, Verifier, Wire
    from restante.ports.receiving import PolicyText, Records
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
