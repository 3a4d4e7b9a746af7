"""What the answer to *why* was concluded from: the facts in words, a line for each, and names as they may be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.address import Home
from restante.domain.listing import named
from restante.domain.outlook import hearing_of, mode_of
from restante.domain.text import age, counted, iso, one_line, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from restante.domain.facts import Facts

_LONGEST = 200
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@%+=,")


def quoted(word: str) -> str:
    """Return a word as it can stand in a command line; what could act on a terminal is written out."""
    word = visible(word).replace("\n", "\\n").replace("\t", "\\t")
    return word if word and set(word) <= _SAFE else "'" + word.replace("'", "'\\''") + "'"


def _lasted(then: datetime | None, now: datetime) -> str:
    """Return how long something lasts, as ``14 min``."""
    words = age(then, now)
    if words == "just now":
        return "a moment"
    return "an unknown time" if then is None else words.removesuffix(" ago")


def _mailbox(facts: Facts) -> str:
    """Return what a message was posted to, as people call it."""
    name = facts.address.partition(":")[2] if facts.home in (Home.WORKTREE, Home.OACP) else facts.address
    return one_line(name, _LONGEST) or "its mailbox"


def _named(facts: Facts) -> str:
    """Return what the session is called from which an answer is expected."""
    return named(facts.reader.session) if facts.reader else "its addressee"


def _holder(facts: Facts) -> str:
    """Return what the session is called that holds the role."""
    lease = facts.tenure.member.lease if facts.tenure and facts.tenure.member else None
    if facts.reader and lease and facts.reader.session.id == lease.session:
        return named(facts.reader.session)
    return one_line(lease.session, 40) if lease else "nobody"


def _idle(facts: Facts) -> str:
    ended = facts.reader.session.latch.ended if facts.reader else None
    if ended is None:
        return f"{_named(facts)} has begun no turn yet"
    return f"{_named(facts)} is idle for {_lasted(ended, facts.now)}"


def _details(facts: Facts) -> str:
    return f"restante {'receipts' if facts.home is Home.SESSION else 'status'} {quoted(facts.message)}"


def _there(facts: Facts) -> str:
    """Return what makes a command work on the worktree of a message's receiver."""
    is_named = facts.hooks is not None and facts.home is not Home.WORKTREE
    return f" -C {quoted(facts.hooks.worktree)}" if facts.hooks and is_named else ""


def _busy(facts: Facts) -> str:
    return f" for {_lasted(facts.reader.last_sign, facts.now)}" if facts.reader and facts.reader.last_sign else ""


def _hindrance(facts: Facts) -> str:
    """Return why mail only reaches the session in a turn of its own."""
    if facts.watch is None:
        return ""
    hearing = hearing_of(facts.watch.monitor, facts.watch.receiver, facts.now)
    return one_line(mode_of(facts.watch.monitor, hearing, facts.now)[1], _LONGEST)


def _line(text: str, otherwise: str) -> str:
    return one_line(text, _LONGEST) or otherwise


class Words:
    """What the sentences and commands of the table are filled with; a mapping for ``str.format_map``.

    Args:
        facts: What is known.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def __getitem__(self, name: str) -> str:
        return _WORDS[name](self._facts)


def evidence(facts: Facts) -> tuple[str, ...]:
    """Return the facts in words."""
    return tuple(line for part in _PARTS for line in part(facts))


def _posted(facts: Facts) -> Iterator[str]:
    if facts.posted:
        yield f"posted {iso(facts.posted)} ({age(facts.posted, facts.now)}) to {one_line(facts.address, _LONGEST)}"


def _course(facts: Facts) -> Iterator[str]:
    course = facts.course
    if not facts.posted:
        return
    yield f"status: {course.status}"
    by = f" by {one_line(facts.by, _LONGEST)}" if facts.by else ""
    if course.noticed_at:
        yield f"shown by a checkpoint {iso(course.noticed_at)}" + ("" if course.seen_at else by)
    if course.seen_at:
        yield f"read {iso(course.seen_at)}{by}"
    for what, at in (
        ("acknowledged", course.acknowledged_at),
        ("withdrawn", course.withdrawn_at),
        ("expired", course.expired_at),
    ):
        if at:
            yield f"{what} {iso(at)}"


def _intake(facts: Facts) -> Iterator[str]:
    if facts.intake:
        yield from (one_line(reason, _LONGEST) for reason in facts.intake.reasons)
        if facts.intake.since:
            yield f"held since {iso(facts.intake.since)}"


def _tenure(facts: Facts) -> Iterator[str]:
    member = facts.tenure.member if facts.tenure else None
    if member and member.lease:
        lease = member.lease
        yield (
            f"lease {lease.generation} of {one_line(lease.session, 60)}, last heard of {iso(lease.heartbeat)}: "
            f"{facts.tenure.hold if facts.tenure else ''}"
        )


def _reader(facts: Facts) -> Iterator[str]:
    if facts.reader is None:
        if facts.ended:
            yield f"{counted(facts.ended, 'session')} of it ended"
        return
    session, latch = facts.reader.session, facts.reader.session.latch
    turn = "in a turn, or before its first" if latch.ended is None else f"turn {latch.turn} ended {iso(latch.ended)}"
    yield f"session {named(session)}: process {facts.reader.presence}, {turn}, heard of {iso(session.heartbeat)}"
    if facts.reader.last_sign:
        yield f"its hooks last told of a turn {iso(facts.reader.last_sign)}"
    if session.blocked:
        yield f"a dialog is open: {one_line(session.blocked, 40)}"


def _hooks(facts: Facts) -> Iterator[str]:
    if facts.hooks:
        yield f"hooks of {facts.hooks.program}: {facts.hooks.state}; {one_line(facts.hooks.detail, _LONGEST)}"


def _watch(facts: Facts) -> Iterator[str]:
    if facts.watch is None:
        return
    monitor = facts.watch.monitor
    yield (
        f"monitor: {monitor.state}, {monitor.plan}, wakes by {monitor.adapter or 'nothing'}; woken up to "
        f"{monitor.last_woken}, pending {monitor.pending} after {monitor.tries} wake(s), message {facts.number}"
    )
    if monitor.heartbeat:
        yield f"its receiver ({facts.watch.receiver}) was last heard of {iso(monitor.heartbeat)}"
    if monitor.hindrance:
        yield f"hindrance: {one_line(monitor.hindrance, _LONGEST)}"
    if monitor.last_error:
        yield f"last error: {one_line(monitor.last_error, _LONGEST)}"


_PARTS = (_posted, _course, _intake, _tenure, _reader, _hooks, _watch)

_WORDS: dict[str, Callable[[Facts], str]] = {
    "acknowledged": lambda facts: age(facts.course.acknowledged_at, facts.now),
    "address": lambda facts: quoted(facts.address),
    "agent": lambda facts: quoted(facts.intake.agent if facts.intake else ""),
    "busy": _busy,
    "by": lambda facts: _line(facts.by, _named(facts)),
    "deaf": lambda facts: _lasted(facts.watch.monitor.heartbeat if facts.watch else None, facts.now),
    "delivered": lambda facts: str(facts.watch.monitor.last_delivered if facts.watch else 0),
    "detail": lambda facts: _line(facts.hooks.detail if facts.hooks else "", "nothing is known of them"),
    "details": _details,
    "dialog": lambda facts: one_line(facts.reader.session.blocked if facts.reader else "", 40),
    "ended": lambda facts: str(facts.ended),
    "error": lambda facts: _line(facts.watch.monitor.last_error if facts.watch else "", "it gave no reason"),
    "expired": lambda facts: age(facts.course.expired_at, facts.now),
    "heard": lambda facts: age(facts.reader.session.heartbeat if facts.reader else None, facts.now),
    "held": lambda facts: age(facts.intake.since if facts.intake else None, facts.now),
    "hindrance": _hindrance,
    "holder": _holder,
    "id": lambda facts: quoted(facts.message),
    "idle": _idle,
    "mailbox": _mailbox,
    "noticed": lambda facts: age(facts.course.noticed_at, facts.now),
    "program": lambda facts: facts.hooks.program if facts.hooks else "the agent program",
    "project": lambda facts: quoted(facts.intake.project if facts.intake else ""),
    "reader": _named,
    "reasons": lambda facts: _line("; ".join(facts.intake.reasons) if facts.intake else "", "it gave no reason"),
    "seen": lambda facts: age(facts.course.seen_at, facts.now),
    "session": lambda facts: quoted(facts.reader.session.id if facts.reader else ""),
    "sign": lambda facts: age(facts.reader.last_sign if facts.reader else None, facts.now),
    "status": lambda facts: str(facts.course.status),
    "there": _there,
    "trouble": lambda facts: _line(facts.trouble, "nothing has this id"),
    "withdrawn": lambda facts: age(facts.course.withdrawn_at, facts.now),
    "words": lambda facts: f": {one_line(facts.course.summary, _LONGEST)}" if facts.course.summary.strip() else "",
}
