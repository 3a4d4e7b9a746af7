"""Being woken once: what a message may say of an action, and which subscription that ends.

A subscription is no monitor: nothing is watched for it. Whoever posts a message that says what it waits for takes it
away and, in the same step, arms the role's mailbox for a single wake.
"""

import re
from datetime import datetime
from typing import TYPE_CHECKING

from restante.domain.arming import Arming, arm, is_standing
from restante.domain.errors import UsageError
from restante.domain.monitor import Plan, Signal, Subscription
from restante.domain.monitoring import Answer, Word

if TYPE_CHECKING:
    from restante.domain.monitor import Monitor
    from restante.domain.monitoring import Step

# Words of other people's programs: a run's id, a commit, a cursor. They stand in lists and on command lines.
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@#+=~-]{0,199}")
_MOST_STATES = 16


def check_word(word: str, what: str) -> str:
    """Return a word by which an action, a run of it or a state is known.

    Raises:
        UsageError: It is none.
    """
    if not _WORD.fullmatch(word):
        raise UsageError(
            f"{word[:80]!r} is no word for {what}",
            remedy="1 to 200 ASCII letters, digits and ._:/@#+=~-, beginning with a letter or digit",
        )
    return word


def check_states(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the states that end a subscription, each once.

    Raises:
        UsageError: There is none, there are too many, or one is no word.
    """
    states = tuple(dict.fromkeys(check_word(word, "a state") for word in words))
    if not 0 < len(states) <= _MOST_STATES:
        raise UsageError(f"{len(states)} states", remedy=f"name 1 to {_MOST_STATES} states that end the waiting")
    return states


def check_signal(action: str, correlation: str, state: str) -> Signal:
    """Return what a message says of an action.

    Raises:
        UsageError: A part is missing, or is no word.
    """
    return Signal(
        check_word(action, "an action"), check_word(correlation, "a run of an action"), check_word(state, "a state")
    )


def matches(subscription: Subscription, signal: Signal, now: datetime) -> bool:
    """Tell whether a message ends a subscription: it is about this run of this action, and says one of the states."""
    is_about = (signal.action, signal.correlation) == (subscription.action, subscription.correlation)
    return is_about and signal.state in subscription.states and now < subscription.expires


def arm_once(monitor: "Monitor | None", now: datetime, arming: Arming, *, only_reports: bool) -> "Step":
    """Arm a mailbox for a single wake. One that is watched anyway stays as it is: that monitor wakes for the message.

    Args:
        monitor: What is kept.
        now: The time.
        arming: For whom, by which way.
        only_reports: Whether whoever is woken marks and answers nothing.
    """
    if monitor is not None and is_standing(monitor, now) and not monitor.is_single:
        return monitor, Answer(Word.ALREADY_PREPARED, monitor)
    armed, answer = arm(None, now, arming._replace(plan=Plan.EVENT))
    assert armed
    single = armed._replace(
        is_single=True,
        only_reports=only_reports,
        last_delivered=monitor.last_delivered if monitor else 0,
        automations=monitor.automations if monitor else (),
    )
    return single, answer._replace(monitor=single)


def expiry_note(subscription: Subscription) -> str:
    """Return what is reported of a subscription that nothing ended in time."""
    states = ", ".join(subscription.states)
    return (
        f"Nothing said {states} of {subscription.action} ({subscription.correlation}) in time: the subscription "
        f"{subscription.id} is over."
    )
