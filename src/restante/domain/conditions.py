"""What the rules of ``why`` ask of the facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.facts import HookState
from restante.domain.lifecycle import Status
from restante.domain.monitor import MonitorState
from restante.domain.outlook import Mode, hearing_of, mode_of
from restante.domain.receipt import Action

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.domain.facts import Facts, Held, Lookup
    from restante.domain.monitor import Monitor
    from restante.domain.outlook import Hearing
    from restante.domain.registry import Presence
    from restante.domain.team import Standing as Hold

# A hook, or a wait, that just ended may still be about to show what it brings.
_UNDERWAY_SECONDS = 10.0


def looked(lookup: Lookup) -> Callable[[Facts], bool]:
    """Return whether looking for the message came to this."""
    return lambda facts: facts.lookup is lookup


def status_is(*statuses: Status) -> Callable[[Facts], bool]:
    """Return whether its status is one of these."""
    return lambda facts: facts.course.status in statuses


def is_to_be_done(facts: Facts) -> bool:
    """Whether its addressee said that the work is still to be done, be it accepted or not decided."""
    status = facts.course.status
    return status is Status.PENDING or (status is Status.ACCEPTED and facts.course.action is Action.PENDING)


def is_held(held: Held) -> Callable[[Facts], bool]:
    """Return whether this keeps an OACP message back."""
    return lambda facts: facts.intake is not None and facts.intake.held is held


def hold_is(hold: Hold) -> Callable[[Facts], bool]:
    """Return whether the lease of the role stands so."""
    return lambda facts: facts.tenure is not None and facts.tenure.hold is hold


def presence_is(presence: Presence) -> Callable[[Facts], bool]:
    """Return whether this is proven of the reader's process."""
    return lambda facts: facts.reader is not None and facts.reader.presence is presence


def hooks_are(*states: HookState) -> Callable[[Facts], bool]:
    """Return whether the hooks stand in one of these ways."""
    return lambda facts: facts.hooks is not None and facts.hooks.state in states


def is_noticed(facts: Facts) -> bool:
    """Whether a checkpoint showed it to the very session that is asked about; another one's look helps nobody."""
    if facts.course.noticed_at is None:
        return False
    return facts.reader is None or not facts.by or facts.by.endswith(facts.reader.session.id)


def is_waiting(facts: Facts) -> bool:
    """Whether the reader waits for mail at this moment."""
    until = facts.reader.session.parked_until if facts.reader else None
    # Whoever waits is freed by the post itself; one that is not was killed in the middle of its wait.
    is_fresh = facts.posted is not None and (facts.now - facts.posted).total_seconds() < _UNDERWAY_SECONDS
    return until is not None and until > facts.now and is_fresh


def is_busy(facts: Facts) -> bool:
    """Whether the reader is in a turn."""
    reader = facts.reader
    if reader is None or reader.session.latch.ended is not None:
        return False
    # One that was only just started has neither begun nor ended a turn.
    return reader.session.latch.turn > 0 or reader.last_sign is not None


def was_passed_by(facts: Facts) -> bool:
    """Whether a hook ran after the post, and must have shown the message if all was well."""
    reader, hooks = facts.reader, facts.hooks
    if reader is None or reader.last_sign is None or facts.posted is None or hooks is None:
        return False
    is_over = (facts.now - reader.last_sign).total_seconds() > _UNDERWAY_SECONDS
    return hooks.state is HookState.CURRENT and reader.last_sign > facts.posted and is_over


def monitor_that(test: Callable[[Facts, Monitor], bool]) -> Callable[[Facts], bool]:
    """Return whether there is a monitor of which this is true."""
    return lambda facts: facts.watch is not None and test(facts, facts.watch.monitor)


def monitor_is(state: MonitorState) -> Callable[[Facts], bool]:
    """Return whether the monitor is in this state."""
    return monitor_that(lambda _, monitor: monitor.state is state)


def is_over(facts: Facts, monitor: Monitor) -> bool:
    """Whether a monitor's time ran out; who notices it first writes it down."""
    return monitor.state is MonitorState.EXPIRED or (
        monitor.state is MonitorState.ACTIVE and facts.now > monitor.expires
    )


def hearing_is(*hearings: Hearing) -> Callable[[Facts], bool]:
    """Return whether nobody listens in one of these ways; some sessions wait by themselves, and need nobody."""

    def test(facts: Facts) -> bool:
        watch = facts.watch
        if watch is None:
            return False
        hearing = hearing_of(watch.monitor, watch.receiver, facts.now)
        return hearing in hearings and mode_of(watch.monitor, hearing, facts.now)[0] is Mode.TURN

    return test
