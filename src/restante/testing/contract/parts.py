"""What a home of sessions supplies to join their contract, and what its tests share."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from restante.domain.limits import Limits
from restante.domain.message import Sender
from restante.domain.registry import Process
from restante.testing.fakes import FakeClock, SequentialIds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from restante.ports import Ids
    from restante.ports.sessions import Boxes, Sessions

ROOMY = Limits(message_bytes=100_000)
ANN = Sender("session:ann", verified=True)
PROCESS = Process("host", 77, "12345")
UNKNOWN = "msg_20260520T153000_01krzx7zy0zzzzzzzzzzzzzzzz"


class Undone(Exception):
    """Raised by a test to leave a block with an error."""


def leave_with_an_error() -> None:
    """Raise ``Undone``."""
    raise Undone


class SessionsBase:
    """What a home supplies.

    Attributes:
        ids: Ids to build boxes with.
        persistent: Whether both outlive the objects.
    """

    ids: ClassVar[Ids] = SequentialIds()
    persistent: ClassVar[bool] = True

    def make_parts(self, tmp_path: Path, clock: FakeClock, limits: Limits) -> tuple[Sessions, Boxes]:
        """Open a register and the mailboxes of its sessions under a directory; the first time both are empty."""
        raise NotImplementedError

    def close_parts(self, sessions: Sessions, boxes: Boxes) -> None:
        """Let go of both, as the end of a process would."""

    @contextmanager
    def opened(self, tmp_path: Path, limits: Limits = ROOMY) -> Iterator[tuple[Sessions, Boxes, FakeClock]]:
        """Open empty parts with a clock of their own, for one test."""
        clock = FakeClock()
        sessions, boxes = self.make_parts(tmp_path, clock, limits)
        try:
            yield sessions, boxes, clock
        finally:
            self.close_parts(sessions, boxes)
