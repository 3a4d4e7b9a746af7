"""A machine with sessions, roles and monitors, for tests of what hosts receivers."""

from __future__ import annotations

import shutil
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from restante import Draft
from restante.domain.monitor import Wake, Woken
from restante.domain.registry import Arrival, Identity
from restante.system.processes import process_of
from restante.wiring.monitors import MonitorParts, open_host
from restante.wiring.receiving import Receivers
from restante.wiring.sessions import open_exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from restante.domain.monitor import Monitor, Target

PATIENCE = 20.0


def until(holds: Callable[[], object], seconds: float = PATIENCE) -> bool:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return bool(holds())


class Recorder:
    """A way to wake that writes down whom it was asked to wake, and answers as it is told."""

    name = "recorder"
    is_default = True

    def __init__(self, answer: Woken | None = None) -> None:
        self.woken: list[tuple[Target, str]] = []
        self.answer = answer or Woken(Wake.CONFIRMED)

    def can_wake(self, _: Target) -> str:
        return ""

    def wake(self, target: Target, text: str) -> Woken:
        self.woken.append((target, text))
        return self.answer

    @property
    def marks(self) -> list[tuple[str, int]]:
        return [(target.mailbox, target.mark) for target, _ in self.woken]


class World:
    """One person's machine."""

    def __init__(self, data: Path, **more: str) -> None:
        self.data = data
        self.environment = {"RESTANTE_DATA": str(data), "HOME": str(data), "PATH": "/usr/bin:/bin", **more}
        self.exchange = open_exchange(self.environment)
        if "RESTANTE_DATABASE_URL" not in more:
            self.exchange.window(Identity("", verified=True)).set_persistence(True)
        self.host = open_host(self.environment)
        self.said: list[str] = []

    def session(self, name: str, vendor: str = "codex", pid: int = 0) -> str:
        """Register a session whose process is this one, or another, and return its address."""
        import os

        arrival = Arrival(name, vendor=vendor, process=process_of(pid or os.getpid()))
        return self.exchange.window(Identity("", verified=True)).register(arrival).address

    def arm(self, address: str, adapter: str = "") -> Monitor:
        """Watch a session's own mailbox for it."""
        answer = self.host.arm(address, session=address.removeprefix("session:"), adapter=adapter)
        assert answer.monitor is not None
        return answer.monitor

    def post(self, address: str, text: str = "The parser is done.") -> None:
        """Post as nobody in particular, from another exchange than the host's."""
        self.exchange.window(Identity()).post(address.removeprefix("session:"), Draft(text))

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """Let nobody hear a bell meanwhile, as for a poster that may not write where bells are."""
        bells = self.data / "bells"
        bells.rename(self.data / "elsewhere")
        yield
        if bells.exists():
            # A host that went its round meanwhile has put up what was missing.
            shutil.rmtree(self.data / "elsewhere")
        else:
            (self.data / "elsewhere").rename(bells)

    def monitor(self, address: str) -> Monitor:
        """Return what is kept of a monitor."""
        found = self.host.outlook(address).monitor
        assert found is not None
        return found

    @contextmanager
    def hosting(self, recorder: object | None = None, *, watch: float = 30.0) -> Iterator[Receivers]:
        """Run a host in a thread; with a recorder all wakes go there."""
        parts = MonitorParts(self.environment)
        made = Receivers(
            self.environment,
            parts=parts,
            say=self.said.append,
            watch=watch,
            wakers=(lambda _: recorder) if recorder else None,  # type: ignore[arg-type,return-value]
        )
        thread = threading.Thread(target=made.run)
        thread.start()
        try:
            yield made
        finally:
            made.stop()
            thread.join(PATIENCE)
            assert not thread.is_alive()
            parts.close()

    def close(self) -> None:
        """Let go of the databases."""
        self.exchange.close()


LONG = timedelta(minutes=10)
