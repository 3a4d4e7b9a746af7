"""Numbers that only ever grow, by name: what happened among an owner's sessions, or in the owner's mailboxes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from restante.stores.sql.transaction import Transaction

# The tag and the number of a counter that was never used.
NOTHING_YET = ("0", 0)


def bump(run: Transaction, counter: str) -> None:
    """Count one on; the first number is 1."""
    if not run.do("bump_counter", name=counter):
        # The tag tells the cursors of a lost database from those of the one that was made anew.
        run.do("add_counter", name=counter, tag=os.urandom(4).hex(), last=0)
        run.do("bump_counter", name=counter)


def bump_later(run: Transaction, counter: str) -> None:
    """Count one on for what the steps of a group write: it is seen at once, and so needs one number."""
    key = "counter", counter
    if key in run.memory:
        run.later("bump_counter", counter, name=counter)
    else:
        bump(run, counter)
        # A counter that is there stays.
        run.memory[key] = True


def next_event(run: Transaction, counter: str) -> int:
    """Count one on and return the number."""
    bump(run, counter)
    row = run.one("counter", name=counter)
    assert row is not None
    return int(row[1])


def last_event(run: Transaction | None, counter: str) -> tuple[str, int]:
    """Return the tag of a counter and the last number it gave."""
    row = run.one("counter", name=counter) if run else None
    return (row[0], row[1]) if row else NOTHING_YET
