"""What ``install`` offers for the whole machine: session inboxes, and keeping their mail on disk."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import Refused, RestanteError, UsageError
from restante.domain.text import visible
from restante.faces.cli.inputs import at_terminal, confirmed
from restante.faces.cli.output import tell

if TYPE_CHECKING:
    from restante.domain.overview import Persistence
    from restante.wiring.switching import Switches

WORDS = ("on", "off")
UNAVAILABLE = "unavailable"


class Chosen(NamedTuple):
    """How the two switches stand: ``on``, ``off``, or ``unavailable``."""

    sessions: str
    persistence: str


def check(sessions: str | None, persist: str | None) -> None:
    """Refuse what is neither on nor off.

    Raises:
        UsageError: Some word is.
    """
    for flag, word in (("--sessions", sessions), ("--persist", persist)):
        if word not in (None, *WORDS):
            raise UsageError(f"{flag} {word!r} is neither on nor off", remedy=f"{flag} on, or {flag} off")


def choose(sessions: str | None, persist: str | None, *, may_ask: bool, may_change: bool, yes: bool) -> Chosen:
    """Set the switches as given, asked for or usual, and say what was chosen and how to change it.

    Sessions are on and persistence is off where nobody decided; what was decided before is left.

    Args:
        sessions: ``on`` or ``off``; ``None`` when it was not given.
        persist: The same for keeping their mail on disk.
        may_ask: Whether a person is there to be asked.
        may_change: Whether anything may be changed.
        yes: Whether mail that waits may be deleted.

    Raises:
        RestanteError: What was given cannot be done.
    """
    from restante.wiring.switching import Switches

    try:
        switches = Switches(os.environ)
        is_on = _sessions(switches, sessions, may_ask=may_ask, may_change=may_change)
        is_kept = _persistence(switches, persist, is_on=is_on, may_ask=may_ask, may_change=may_change, yes=yes)
    except RestanteError as error:
        # The worktree's mailbox needs none of it.
        if sessions or persist:
            raise
        tell(f"note: session inboxes are not available: {visible(error.message)}")
        return Chosen(UNAVAILABLE, UNAVAILABLE)
    chosen = Chosen(_word(is_on), is_kept)
    _say(chosen, switches, may_change=may_change)
    return chosen


def check_loss(before: Persistence, *, may_ask: bool, yes: bool) -> None:
    """Let nobody delete mail that waits without meaning to; through a server none is lost.

    Args:
        before: How persistence stands before it is switched off.
        may_ask: Whether a person may be asked.
        yes: Whether the answer was given beforehand.

    Raises:
        Refused: Mail waits, and nobody said that it may go.
    """
    from restante.wiring.switching import waiting_on_disk

    if yes or not before.is_on or before.is_fixed or before.has_server:
        return
    count = waiting_on_disk(os.environ)
    if not count:
        return
    words = f"{count} message{'' if count == 1 else 's'} that wait{'s' if count == 1 else ''} would be deleted"
    if may_ask and at_terminal() and confirmed(f"{words}. Switch persistence off all the same?"):
        return
    raise Refused(
        f"nothing was changed: {words}",
        remedy="say so: restante persist off --yes; or start restante serve first, which keeps them in memory",
    )


def _sessions(switches: Switches, given: str | None, *, may_ask: bool, may_change: bool) -> bool:
    before = switches.sessions()
    if given:
        wanted = given == "on"
    elif before is not None:
        return before
    else:
        wanted = not may_ask or _agreed("Use session inboxes, by which agents on this machine write to each other?")
    if may_change and wanted != before:
        switches.set_sessions(wanted)
    return wanted


def _persistence(
    switches: Switches, given: str | None, *, is_on: bool, may_ask: bool, may_change: bool, yes: bool
) -> str:
    before = switches.persistence()
    if given is None:
        if before is None:
            return UNAVAILABLE
        asks = may_ask and may_change and is_on and not before.is_on and not before.is_fixed
        if not (asks and confirmed("Keep the mail of sessions on disk? Without it, only a running server holds it.")):
            return _word(before.is_on)
        given = "on"
    if may_change and (before is None or before.is_on is not (given == "on")):
        if before and given == "off":
            check_loss(before, may_ask=may_ask, yes=yes)
        return _word(switches.set_persistence(given == "on").is_on)
    return given


def _say(chosen: Chosen, switches: Switches, *, may_change: bool) -> None:
    would = "" if may_change else "would be "
    other = "off" if chosen.sessions == "on" else "on"
    tell(
        f"session inboxes: {would}{chosen.sessions} (for all worktrees; {visible(switches.place)}); "
        f"change: restante install --sessions {other}"
    )
    if chosen.persistence == UNAVAILABLE:
        return
    kept = "their mail is kept on disk" if chosen.persistence == "on" else "no word of their mail is written to disk"
    other = "off" if chosen.persistence == "on" else "on"
    tell(f"persistence: {chosen.persistence} ({kept}); change: restante persist {other}")


def _word(is_on: bool) -> str:
    return "on" if is_on else "off"


def _agreed(question: str) -> bool:
    """Ask a person at the terminal; anything but no is yes."""
    sys.stderr.write(f"{question} [Y/n] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() not in {"n", "no"}
