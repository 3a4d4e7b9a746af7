"""What must hold after the chaos, judged by what everybody wrote down and by what is kept."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.monitoring import RULES
from restante.wiring.receiving import WATCH_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from pathlib import Path

    from restante.domain.mailbox import Entry
    from restante.domain.receipt import Receipt

# How long a busy machine may take over what is due, and how long whoever does it may be stopped.
SLACK = 20.0
# In this time an armed role is woken, if its session and any host are there: a wake that failed is made again.
WINDOW = RULES.retry.total_seconds() + WATCH_SECONDS + SLACK
# The same where a poster was killed between its commit and the bell: the watchdog's next round sees the numbers.
LOST_BELL = WATCH_SECONDS + WINDOW
_FOR_EVER = float("inf")

Span = tuple[float, float]


class Wake(NamedTuple):
    """A call of the person's command that wakes."""

    at: float
    mailbox: str
    mark: int
    session: str


class Records:
    """What was written down.

    Attributes:
        posted: Ids of messages whose posting was reported.
        took: Under which generation, and when, a session took a role: by role, in sequence.
        armed: When a session had armed its role.
        wakes: The wakes.
        fenced: How many sessions found that their role was another's.
    """

    def __init__(self, place: Path) -> None:
        lines = sorted(map(json.loads, (place / "log").read_text().splitlines()), key=lambda one: one["at"])
        self.posted = {message for one in lines if one["did"] == "posted" for message in one["ids"]}
        for path in (place / "posts").iterdir():
            # Empty where it was killed, and an error where somebody who was stopped held the database.
            if (told := path.read_text()).startswith('{"copies"'):
                self.posted |= {copy["message"]["id"] for copy in json.loads(told)["copies"]}
        self.took: dict[str, list[tuple[int, float, str]]] = defaultdict(list)
        self.armed: dict[str, float] = {}
        self.fenced = sum(one["did"] == "fenced" for one in lines)
        running: dict[str, list[Span]] = defaultdict(list)
        for one in lines:
            at, who, did = one["at"], one["who"], one["did"]
            if did == "took":
                self.took[one["role"]].append((one["generation"], at, who))
            elif did == "armed":
                self.armed[who] = at
            elif did in ("start", "go on"):
                running[who].append((at, _FOR_EVER))
            elif did in ("stop", "kill", "end") and running[who] and running[who][-1][1] == _FOR_EVER:
                running[who][-1] = (running[who][-1][0], at)
        self.running = dict(running)
        self.hosts = _united(span for who, spans in running.items() if who.startswith("host") for span in spans)
        self.wakes = [_wake(line) for line in (place / "wakes").read_text().splitlines()]


def _wake(line: str) -> Wake:
    at, mailbox, mark, _, session = line.split()
    return Wake(float(at), mailbox, int(mark), session)


def faults(records: Records, mail: dict[str, list[Entry]], receipts: Callable[[str, str], list[Receipt]]) -> list[str]:
    """Return everything that does not hold.

    Args:
        records: What was written down.
        mail: Everything in the mailbox of each role.
        receipts: Returns the receipts of a message of a role.
    """
    found = []
    kept = {entry.message.id for entries in mail.values() for entry in entries}
    found += [f"{lost} was posted and is not there" for lost in records.posted - kept]
    for role, entries in mail.items():
        for entry in entries:
            said = [one for one in receipts(role, entry.message.id) if not one.is_bare]
            if len(said) != 1:
                found.append(f"{entry.message.id} of {role} was acknowledged {len(said)} times")
                continue
            found += _not_by_holder(records, role, said[0])
            found += _deaf(records, role, entry)
    return found + _too_often(records, mail)


def _not_by_holder(records: Records, role: str, receipt: Receipt) -> list[str]:
    """Complain of who acknowledged without holding the role then."""
    holders = sorted(records.took[role])
    at = _at(receipt.seen_at)
    for (_, taken, session), after in zip(holders, [*holders[1:], None], strict=True):
        if f"session:{session}" == receipt.by:
            # It wrote down that it took the role a moment after it did.
            if taken - SLACK <= at <= (after[1] if after else _FOR_EVER):
                return []
            return [f"{receipt.message_id} of {role} was acknowledged by {session} at {at}, not in {taken} to {after}"]
    return [f"{receipt.message_id} of {role} was acknowledged by {receipt.by}, which never held it"]


def _too_often(records: Records, mail: dict[str, list[Entry]]) -> list[str]:
    """Complain of marks that woke more often than is allowed, too soon again, or somebody who never held the role."""
    found = []
    of_mark: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for one in records.wakes:
        of_mark[one.mailbox, one.session, one.mark].append(one.at)
        if one.mark not in {entry.message.number for entry in mail[one.mailbox]}:
            found.append(f"{one} is for no message")
        if one.session not in {session for _, _, session in records.took[one.mailbox]}:
            found.append(f"{one} is for whoever never held the role")
    for which, times in of_mark.items():
        times.sort()
        if len(times) > RULES.wakes:
            found.append(f"{which} was woken {len(times)} times")
        soonest = min((after - before for before, after in pairwise(times)), default=_FOR_EVER)
        # Whoever decided to wake may have been stopped before it did.
        if soonest < RULES.retry.total_seconds() - SLACK:
            found.append(f"{which} was woken again after {soonest} s")
    return found


def _deaf(records: Records, role: str, entry: Entry) -> list[str]:
    """Complain of an armed role whose session lived, with a host that did, and was not brought to read a message."""
    window = WINDOW if entry.message.id in records.posted else LOST_BELL
    span = (_at(entry.message.created), _at(entry.standing.seen_at))
    found = []
    for _, _, session in records.took[role]:
        if session in records.armed:
            lived = _common([(records.armed[session], _FOR_EVER)], records.running[session])
            waited = _length(_common(_common([span], lived), records.hosts))
            if waited > window:
                found.append(f"{session} of {role} was deaf to {entry.message.id} for {waited:.0f} s")
    return found


def latencies(mail: dict[str, list[Entry]]) -> list[float]:
    """Return for how many seconds each message was unseen, in sequence of length."""
    return sorted(
        _at(entry.standing.seen_at) - _at(entry.message.created) for entries in mail.values() for entry in entries
    )


def _at(time: datetime | None) -> float:
    return time.timestamp() if time else _FOR_EVER


def _united(spans: Iterable[Span]) -> list[Span]:
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def _common(some: list[Span], others: list[Span]) -> list[Span]:
    pairs = ((max(a[0], b[0]), min(a[1], b[1])) for a in some for b in others)
    return [one for one in pairs if one[0] < one[1]]


def _length(spans: list[Span]) -> float:
    return sum(end - begin for begin, end in spans)
