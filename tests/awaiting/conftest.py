"""The machine of the tests of ``why``, a program that hosts receivers, and an adapter that keeps what it was told."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING

from tests.faces.cli.conftest import restante, worktree  # noqa: F401
from tests.why.conftest import pair, scene  # noqa: F401

from restante.domain.monitor import Wake, Woken
from restante.wiring.receiving import Receivers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from restante.domain.monitor import Target


class Recorder:
    """A way to start a visible turn, for tests: it keeps what it was told and says what it is to say."""

    name = "recorder"
    is_default = True

    def __init__(self, wake: Wake = Wake.CONFIRMED) -> None:
        self.wakes: list[tuple[str, str]] = []
        self.wake_is = wake

    def can_wake(self, _: Target) -> str:
        return ""

    def wake(self, target: Target, text: str) -> Woken:
        self.wakes.append((target.session, text))
        return Woken(self.wake_is, "" if self.wake_is is Wake.CONFIRMED else "it gave no sign")

    def until(self, count: int, seconds: float = 30.0) -> list[tuple[str, str]]:
        """Wait until there were so many wakes, or the time is over; return them."""
        return self.until_true(lambda: len(self.wakes) >= count, seconds)

    def until_true(self, test: Callable[[], bool], seconds: float) -> list[tuple[str, str]]:
        """Wait until something is true, or the time is over; return the wakes."""
        end = time.monotonic() + seconds
        while not test() and time.monotonic() < end:
            time.sleep(0.05)
        return list(self.wakes)


@contextmanager
def hosting(recorder: Recorder) -> Iterator[Receivers]:
    """Host receivers in the block, as ``restante monitor run`` does."""
    receivers = Receivers(dict(os.environ), wakers=lambda _: recorder)
    thread = Thread(target=receivers.run)
    thread.start()
    try:
        yield receivers
    finally:
        receivers.stop()
        thread.join(30)
