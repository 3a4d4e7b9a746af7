"""Run by tests as a process of its own: posts and answers, and says after each what was reported as stored.

Usage: worker.py DATABASE FILESYSTEM NAME COUNT; COUNT messages, or until it is killed when 0.
"""

from __future__ import annotations

import itertools
import sys

from restante.domain.mailbox import Acknowledgement, Mark
from restante.domain.message import Draft
from restante.domain.receipt import Action, Decision
from restante.stores.sql.sqlite import SqliteDatabase
from restante.system.clock import SystemClock
from restante.system.ids import MonotonicIds


def main(path: str, kind: str, name: str, count: int) -> None:
    database = SqliteDatabase(path, clock=SystemClock(), ids=MonotonicIds(), busy_seconds=60, fs_type=lambda path: kind)
    mailbox = database.mailbox("team/reviewer")
    for number in range(count) if count else itertools.count():
        message = mailbox.post(
            Draft(f"{name} {number} " + "x" * (number % 7 * 700), client_id=f"{name}-{number}")
        ).message
        print("posted", message.id, f"{name}-{number}", flush=True)
        if number % 2:
            mailbox.mark([message.id], Mark.SEEN, name)
            mailbox.acknowledge([Acknowledgement(message.id, Decision.ACCEPTED, Action.APPLIED, "done")], name)
            print("answered", message.id, f"{name}-{number}", flush=True)
        if number % 5 == 0:
            mailbox.close()
    mailbox.close()


main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
