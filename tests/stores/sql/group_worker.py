"""Run by tests as a process of its own: registers sessions and posts to them in groups, and says what was committed.

Usage: group_worker.py DIRECTORY FILESYSTEM NAME COUNT; COUNT groups, or until it is killed when 0. A group is reported
as one line, after both of its commits; before its first step a line says that it begins.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import sys

from restante.domain.errors import MailboxFull
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement
from restante.domain.message import Draft, Sender
from restante.domain.receipt import Decision
from restante.domain.registry import Arrival
from restante.stores.sql.boxes import SqlBoxes
from restante.stores.sql.sessions import SqlSessions
from restante.stores.sql.sqlite import SqliteDatabase
from restante.system.clock import SystemClock
from restante.system.ids import MonotonicIds

SESSIONS = [f"session-{number}" for number in range(4)]


def open_parts(directory: str, kind: str = "ext4") -> tuple[SqlSessions, SqlBoxes]:
    """Open the two files of a directory."""
    clock, ids = SystemClock(), MonotonicIds()
    register, mail = (
        SqliteDatabase(os.path.join(directory, name), clock=clock, ids=ids, busy_seconds=60, fs_type=lambda path: kind)
        for name in ("restante.db", "mail.db")
    )
    return SqlSessions(register), SqlBoxes(mail, clock, ids, Limits(pending_messages=100_000))


def main(directory: str, kind: str, name: str, count: int) -> None:
    sessions, boxes = open_parts(directory, kind)
    small = SqlBoxes(boxes._database, SystemClock(), MonotonicIds(), Limits(pending_messages=0))
    sender = Sender(f"session:{name}", verified=True)
    dice = random.Random(name)
    for group in range(count) if count else itertools.count():
        os.write(1, json.dumps({"began": f"{name} {group}"}).encode() + b"\n")
        posted: dict[str, str] = {}
        acked = []
        with sessions.together(), boxes.together():
            sessions.attach(Arrival(name, name=f"{group}"), "", SystemClock().now(), is_proven=True)
            for step in range(dice.randrange(1, 8)):
                box = boxes.box(dice.choice(SESSIONS), "")
                body = f"{name} {group} {step} " + "x" * dice.randrange(3000)
                message = box.post(Draft(body, sender, client_id=f"{group}-{step}")).message
                posted[message.id] = box.address
                if step % 3 == 1:
                    box.acknowledge([Acknowledgement(message.id, Decision.ACCEPTED)], "reader")
                    acked.append(message.id)
                if step % 3 == 2:
                    try:
                        small.box(SESSIONS[0], "").post(Draft("refused", sender))
                    except MailboxFull:
                        continue
        os.write(1, json.dumps({"name": name, "group": group, "posted": posted, "acked": acked}).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
