"""A process that takes part in teams, for tests that need real ones: ``python -I lease_driver.py LOCATION SESSION``.

It does what lines of JSON on its input ask for, and answers each with one line, when it was done and not before. The
location holds ``teams.db``, or a file ``url`` with the URL of a PostgreSQL database. The tests import ``open_parts``
from here too, so that both sides open it in the same way.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from restante.domain.errors import RestanteError
from restante.domain.mailbox import Mark
from restante.domain.message import Draft
from restante.domain.monitor import Monitor, MonitorState, Plan, Sight, Signal
from restante.domain.registry import Presence, Process
from restante.stores.sql.monitors import SqlMonitors
from restante.stores.sql.role_boxes import SqlRoleBoxes
from restante.stores.sql.sights import SqlSights
from restante.stores.sql.sqlite import SqliteDatabase
from restante.stores.sql.subscriptions import SqlSubscriptions
from restante.stores.sql.teams import SqlTeams
from restante.system.clock import SystemClock
from restante.system.ids import MonotonicIds
from restante.system.processes import LocalProcesses, process_of
from restante.testing.contract.team_parts import TeamParts

if TYPE_CHECKING:
    from collections.abc import Iterator

ROLE = "team/alice"
DONE = Signal("review", "42", "done")


@contextmanager
def open_parts(location: str) -> Iterator[TeamParts]:
    """Open what is kept at a location."""
    clock, ids = SystemClock(), MonotonicIds()
    url = os.path.join(location, "url")
    database: Any
    if os.path.exists(url):
        from restante.stores.sql.postgres import open_postgres

        with open(url, encoding="utf-8") as file:
            database = open_postgres(file.read(), clock=clock, ids=ids)
    else:
        database = SqliteDatabase(os.path.join(location, "teams.db"), clock=clock, ids=ids, busy_seconds=60)
    try:
        yield TeamParts(
            SqlTeams(database),
            SqlRoleBoxes(database, clock, ids),
            SqlMonitors(database, clock),
            SqlSights(database, clock),
            SqlSubscriptions(database),
        )
    finally:
        database.close()


def presence(process: Process | None) -> Presence:
    """Tell what is proven of a process, as the services do."""
    return LocalProcesses().presence(process) if process else Presence.UNKNOWN


def count(before: Monitor | None, _: Sight) -> tuple[Monitor, int]:
    """Count one on in a monitor, and begin it where there is none."""
    if before is None:
        at, while_ = datetime(2026, 5, 20, tzinfo=UTC), timedelta(hours=12)
        words = ROLE, "", "one", "codex", 1, "task-1", Plan.EVENT, "codex-queue", MonitorState.ACTIVE
        before = Monitor(*words, at, at, while_, at + while_)
    after = before._replace(tries=before.tries + 1)
    return after, after.tries


class Driver:
    """One session, in this process."""

    def __init__(self, parts: TeamParts, session: str) -> None:
        self.parts = parts
        self.session = session
        self.generation: int | None = None

    def take(self, now: int = 0, seconds: float = 3600.0, pid: int = 0, boot: str = "") -> dict[str, object]:
        """Take the role, under another number than our own or from before the machine was started, if asked for."""
        process = process_of(os.getpid())
        if boot:
            machine, _, rest = process.started.split(".", 2)
            process = process._replace(started=f"{machine}.{boot}.{rest}")
        lease = self.parts.teams.take(
            ROLE,
            "",
            _time(now),
            session=self.session,
            process=process._replace(pid=pid or process.pid),
            time_to_live=timedelta(seconds=seconds),
            presence=presence,
        )
        self.generation = lease.generation
        return {"generation": lease.generation, "beat": _ms(lease.heartbeat)}

    def beat(self, now: int = 0) -> dict[str, object]:
        lease = self.parts.teams.beat(ROLE, "", _time(now), session=self.session, generation=self.generation)
        return {"beat": _ms(lease.heartbeat)}

    def release(self) -> dict[str, object]:
        done = self.parts.teams.release(ROLE, "", _time(0), session=self.session, generation=self.generation)
        return {"released": done}

    def post(self) -> dict[str, object]:
        return {"id": self.parts.boxes.post(ROLE, "", Draft("text"), DONE).message.id}

    def read(self) -> dict[str, object]:
        box = self.parts.boxes.fenced(ROLE, "", self.session, self.generation)
        ids = [one.message.id for one in box.entries(pending_only=True) if one.standing.seen_at is None]
        box.mark(ids, Mark.SEEN, self.session)
        return {"read": ids}

    def count(self, times: int = 1) -> dict[str, object]:
        last = 0
        for _ in range(times):
            last = self.parts.monitors.change(ROLE, "", count)
        return {"count": last}

    def match(self) -> dict[str, object]:
        return {"matched": [one.id for one in self.parts.subscriptions.take_matching(ROLE, "", [DONE])]}

    def work(self) -> dict[str, object]:
        """Take, beat, post, read, count and let go until killed; say of each that it was done."""
        for number in itertools.count():
            for what in ("take", "beat", "post", "read", "count"):
                answer(what, getattr(self, what)())
            if number % 3 == 2:
                answer("release", self.release())
        return {}


def answer(did: str, facts: dict[str, object]) -> None:
    """Tell the test what was done, in one write: a kill cannot cut it."""
    os.write(1, json.dumps({"did": did, **facts}).encode() + b"\n")


def main(location: str, session: str) -> None:
    with open_parts(location) as parts:
        driver = Driver(parts, session)
        parts.teams.member(ROLE, "")
        answer("ready", {})
        for line in sys.stdin:
            asked = json.loads(line)
            did = asked.pop("do")
            try:
                answer(did, getattr(driver, did)(**asked))
            except RestanteError as error:
                answer("error", {"tried": did, "code": error.code, "text": error.message})


def _time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC) if ms else SystemClock().now()


def _ms(time: datetime) -> int:
    return round(time.timestamp() * 1000)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
