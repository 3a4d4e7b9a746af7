"""A host that is killed at a seam: ``python -I seam_host.py SEAM LOG SHIFT``, in the environment of its world.

SEAM is ``claimed`` (it has decided to wake), ``woken`` (it has woken, and could not write that down), or anything else
for one that lives on. Its clock is SHIFT seconds ahead; LOG gets a line with the mailbox and the mark of each wake.
"""

from __future__ import annotations

import os
import signal
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.monitor import Wake, Woken
from restante.system.clock import SystemClock
from restante.wiring.monitors import MonitorParts
from restante.wiring.receiving import Receivers

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.monitor import Target


class ShiftedClock(SystemClock):
    """The machine's clock, so many seconds ahead."""

    def __init__(self, seconds: float) -> None:
        self._ahead = timedelta(seconds=seconds)

    def now(self) -> datetime:
        return super().now() + self._ahead


class Killed:
    """A way to wake in whose middle the host is killed."""

    name = "killed"
    is_default = True

    def __init__(self, seam: str, log: str) -> None:
        self._seam = seam
        self._log = log

    def can_wake(self, _: Target) -> str:
        return ""

    def wake(self, target: Target, _: str) -> Woken:
        if self._seam == "claimed":
            os.kill(os.getpid(), signal.SIGKILL)
        with open(self._log, "a", encoding="utf-8") as file:
            file.write(f"{target.mailbox} {target.mark}\n")
        if self._seam == "woken":
            os.kill(os.getpid(), signal.SIGKILL)
        return Woken(Wake.CONFIRMED)


def main(seam: str, log: str, shift: str) -> None:
    """Listen until told to stop."""
    environment = dict(os.environ)
    parts = MonitorParts(environment, clock=ShiftedClock(float(shift)))
    host = Receivers(environment, parts=parts, watch=0.5, wakers=lambda _: Killed(seam, log))
    signal.signal(signal.SIGTERM, lambda *_: host.stop())
    print("listens", flush=True)
    host.run()
    parts.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
