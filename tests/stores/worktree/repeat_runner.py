"""A runner of repeats in a process of its own, which can be killed or held at the worst moments.

    python repeat_runner.py ROOT NOW MODE

Waits for a line on standard input, then runs what is due once and prints how many messages it posted anew. MODE:
``plain``; ``die-before-post`` and ``die-after-post`` kill it as kill -9 does; ``hold-before-post`` prints ``claimed``
and waits for another line; ``die-in-settle`` kills it between its two writes of settling.
"""

from __future__ import annotations

import os
import signal
import sys
from datetime import datetime
from typing import TYPE_CHECKING

from restante.services.repeats import run_due
from restante.stores.worktree.locate import find_worktree
from restante.stores.worktree.repeats import StateBook
from restante.stores.worktree.store import WorktreeMailbox
from restante.system.clock import FixedClock
from restante.system.ids import MonotonicIds

if TYPE_CHECKING:
    from restante.domain.mailbox import Posted
    from restante.domain.message import Draft


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class HookedMailbox(WorktreeMailbox):
    """Counts what it is asked to post, and does what the mode says around it."""

    mode = "plain"

    def post(self, draft: Draft) -> Posted:
        with open(os.path.join(os.path.dirname(self.layout.box), "attempts"), "a") as log:
            log.write(f"{os.getpid()} {draft.client_id}\n")
        if self.mode == "die-before-post":
            die()
        if self.mode == "hold-before-post":
            print("claimed", flush=True)
            sys.stdin.readline()
        posted = super().post(draft)
        if self.mode == "die-after-post":
            die()
        return posted


class HookedBook(StateBook):
    """Dies after STATE.json was written and before the claims were."""

    mode = "plain"

    def _write_claims(self, claims: object) -> None:
        if self.mode == "die-in-settle" and claims == {}:
            die()
        super()._write_claims(claims)  # type: ignore[arg-type]


def main() -> None:
    root, now, mode = sys.argv[1:]
    worktree = find_worktree(root)
    clock = FixedClock(datetime.fromisoformat(now))
    book, mailbox = HookedBook(worktree, clock), HookedMailbox(worktree, clock, MonotonicIds())
    book.mode = mailbox.mode = mode
    print("ready", flush=True)
    sys.stdin.readline()
    result = run_due(book, mailbox, lambda _: [], clock)
    assert not result.failed, result.failed
    print(sum(not one.posted.duplicate for one in result.sent), flush=True)


if __name__ == "__main__":
    main()
