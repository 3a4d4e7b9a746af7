"""What a program that hosts receivers decides between a bell and a wake; pure, and without a letter of mail."""

from datetime import datetime, timedelta

from restante.domain.monitor import Monitor, Plan, Sight
from restante.domain.monitoring import RULES, Answer, Proof, Rules, Word, check, stands
from restante.domain.outlook import NO_WAY, SILENCE
from restante.domain.registry import Latch
from restante.domain.text import one_line

# A turn shows mail by itself; one that takes longer than this may be one whose end nobody was told of.
BUSY_FOR = timedelta(minutes=5)
# A waiter that was asked for a sign of life and gave none for so long is stopped, or deaf.
DEAF_AFTER = timedelta(seconds=75)
# A worktree may be called anything: in what a model is told its name is one line, and not a long one.
_LONGEST = 200


def wake_text(mailboxes: list[str], command: str, *, only_reports: bool = False) -> str:
    """Return what a wake says: where mail waits and how it is collected, or looked at by whom is to report it only."""
    names = " and ".join(one_line(one, _LONGEST) for one in mailboxes)
    if only_reports:
        looks = " and ".join(f"{command} inbox {one_line(one, _LONGEST)} --peek" for one in mailboxes)
        return f"What you wait for came to {names}. Only report it; answer nothing. Look: {looks}"
    return f"Mail waits for {names}. Run: {command} inbox"


def is_received(monitor: Monitor) -> bool:
    """Tell whether a monitor is one that a host listens for."""
    return stands(monitor) and monitor.plan is Plan.EVENT and monitor.adapter != NO_WAY


def is_in_turn(latch: Latch | None, waited: timedelta) -> bool:
    """Tell whether a session is to be left alone because its turn, which shows mail, goes on.

    Args:
        latch: Its turn latch as hooks say it; ``None`` where they say nothing.
        waited: For how long its mail was put off for that already.
    """
    return latch is not None and latch.ended is None and waited < BUSY_FOR


def look_again(answer: Answer, rules: Rules = RULES) -> timedelta | None:
    """Return after how long a mailbox has to be looked at again although no bell rings; ``None`` for not at all."""
    if answer.word is Word.WAKE:
        return rules.retry
    return answer.retry_in if answer.word is Word.WAITING and answer.retry_in > timedelta() else None


def was_missed(monitor: Monitor, now: datetime, rules: Rules = RULES) -> bool:
    """Tell whether a monitor waits for something that a host may not know of: after a restart, or a new way."""
    if monitor.hindrance:
        return True
    # What lies in the future is from a clock that was set back since.
    return monitor.pending_at is not None and not timedelta() <= now - monitor.pending_at < rules.retry


def is_due(monitor: Monitor, sight: Sight, now: datetime) -> bool:
    """Tell whether a check would wake for what is to be seen of a mailbox."""
    return check(monitor, sight, now, Proof())[1].word is Word.WAKE


def deaf_host(monitor: Monitor, pid: int, host: str, now: datetime) -> str:
    """Return a sentence about a receiver that was not heard of for too long, where it is another program's."""
    receiver = monitor.receiver
    if receiver is None or monitor.heartbeat is None or (receiver.host, receiver.pid) == (host, pid):
        return ""
    silent = now - monitor.heartbeat
    if silent <= SILENCE:
        return ""
    return f"process {receiver.pid} on {receiver.host} was not heard of for {silent.total_seconds():.0f} s"


def waiter_trouble(waits: bool, heard: datetime | None, asked: datetime | None, now: datetime) -> str:
    """Return what is wrong with the waiter of a session, and what helps; empty for nothing.

    Args:
        waits: Whether a process holds its lock.
        heard: When it gave its last sign of life.
        asked: When it was first asked for one after that; ``None`` for not yet.
        now: The time.
    """
    if not waits:
        return "no waiter of the session waits: it begins with the session's next stop, where hooks are installed"
    if asked is None or (heard is not None and heard >= asked) or now - asked < DEAF_AFTER:
        return ""
    return (
        "the session's waiter gives no sign of life, so it is stopped or deaf: end it, and the next stop begins another"
    )
