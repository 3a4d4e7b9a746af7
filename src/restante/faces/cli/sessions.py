"""``restante ls`` and ``restante session``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain import wire
from restante.domain.errors import UsageError
from restante.domain.listing import footer, items_words, named
from restante.domain.message import choose
from restante.faces.cli.inputs import office_of
from restante.faces.cli.output import say, tell
from restante.faces.cli.session_render import session_table, session_text
from restante.faces.cli.windows import checked, number_from, row_of, window_of

if TYPE_CHECKING:
    from restante.domain.overview import Row
    from restante.domain.registry import Session
    from restante.ports.sessions import Window


def ls(alive: bool, limit: str, directory: str, as_json: bool) -> None:
    """List the sessions with what mail waits for them, and name who waits for whom."""
    from restante.domain.overview import mutual_waits
    from restante.domain.registry import Presence

    most = number_from(limit, what="--limit", least=1)
    window = window_of(directory, only_looks=True)
    rows = window.sessions()
    over = (Presence.GONE, Presence.DETACHED)
    # Who can be written to comes first; of those that are over, the ones with mail.
    rows.sort(key=lambda row: (row.presence in over, row.presence in over and not row.counts.pending))
    if alive:
        rows = [row for row in rows if row.presence not in over]
    shown = rows[:most]
    left_out = len(rows) - len(shown)
    if as_json:
        from restante.faces.cli.jsonable import print_json

        waits = [list(pair) for pair in mutual_waits(rows)]
        print_json({"sessions": [wire.of_row(row) for row in shown], "left_out": left_out, "mutual_waits": waits})
        return
    if not rows:
        say("no sessions")
        tell("agent programs with hooks register by themselves: restante install; others: restante session start")
        return
    now = office_of(directory, anywhere=True).clock.now()
    own = window.identity.session
    say(session_table(shown, own, now), end="")
    if left_out:
        say(f"{left_out} more: restante ls --limit {len(rows)}")
    for line in footer(rows, now):
        say(line)
    _say_next(rows, own)


def _say_next(rows: list[Row], own: str) -> None:
    mine = next((row for row in rows if row.session.id == own), None)
    ways = ["restante inbox"] if mine and mine.counts.unseen else []
    ways += ['restante post NAME "TEXT"', "restante receipts", "restante watch --sessions"]
    tell("next: " + "; ".join(ways))


def show(session: str | None, directory: str, as_json: bool) -> None:
    """Show all that is known of a session."""
    window = window_of(directory, only_looks=True)
    rows = window.sessions()
    row = row_of(rows, _reference(window, session))
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"session": wire.of_row(row)})
        return
    now = office_of(directory, anywhere=True).clock.now()
    say(session_text(row, {one.session.id: one.session for one in rows}, now), end="")


def _reference(window: Window, session: str | None) -> str:
    """Return how the session to work on was named; the caller's own when it was not.

    Raises:
        UsageError: It was not, and the caller is no session.
    """
    reference = session if session is not None else window.identity.session
    if not reference:
        raise UsageError("no session was named, and this is not run by one", remedy="name one: restante ls")
    return checked(window, reference)


def start(session_id: str | None, name: str, vendor: str, parent: str, directory: str, as_json: bool) -> None:
    """Register a session, or attach one again under its id."""
    from restante.domain.registry import Arrival

    window = window_of(directory)
    chosen = session_id or window.identity.session
    if not chosen:
        raise UsageError("a session needs an id, and this is not run by one", remedy="give it with --id")
    worktree = _worktree_of(directory)
    registered = window.register(Arrival(chosen, vendor=vendor, name=name, worktree=worktree, parent=parent))
    _answer(registered, "registered", as_json)


def _worktree_of(directory: str) -> str:
    from restante.domain.address import parse_address
    from restante.domain.errors import NoWorktree

    try:
        return parse_address(office_of(directory).address).name
    except NoWorktree:
        return ""


def end(session: str | None, directory: str, as_json: bool) -> None:
    """Say that a session's process ended; its mail stays."""
    window = window_of(directory)
    _answer(window.detach(_reference(window, session)), "detached; its mail is kept:", as_json)


def delete(session: str, directory: str, as_json: bool) -> None:
    """End a session for good, with its mail."""
    window = window_of(directory)
    _answer(window.delete(checked(window, session)), "deleted, with its mail:", as_json)


def rename(name: str, session: str | None, directory: str, as_json: bool) -> None:
    """Give a session a name."""
    window = window_of(directory)
    _answer(window.describe(_reference(window, session), name=name), "named", as_json)


def todo(open_todos: str, total_todos: str | None, session: str | None, directory: str, as_json: bool) -> None:
    """Say how many items of a session's list are open."""
    still_open = number_from(open_todos, what="OPEN")
    total = number_from(total_todos, what="TOTAL") if total_todos is not None else None
    if total is not None and total < still_open:
        raise UsageError(f"{still_open} of {total} items cannot be open", remedy="OPEN is at most TOTAL")
    window = window_of(directory)
    changed = window.describe(_reference(window, session), open_todos=still_open, total_todos=total)
    _answer(changed, f"{items_words(changed)} items open:", as_json)


def blocked(dialog: str, session: str | None, directory: str, as_json: bool) -> None:
    """Say that a session waits for an answer to a dialog, or no longer does."""
    from restante.faces.cli.command import DIALOGS

    if dialog not in DIALOGS:
        raise UsageError(f"unknown dialog {dialog!r}", remedy=f"use one of: {', '.join(DIALOGS)}")
    word = "" if dialog == "none" else dialog
    window = window_of(directory)
    changed = window.describe(_reference(window, session), blocked=word)
    _answer(changed, f"blocked by {word}:" if word else "not blocked:", as_json)


def turn(moment: str, source: str, session: str | None, directory: str, as_json: bool) -> None:
    """Say that a turn of a session began, or ended."""
    from restante.domain.registry import TurnSource
    from restante.faces.cli.command import TURN_MOMENTS

    if moment not in TURN_MOMENTS:
        raise UsageError(f"unknown word {moment!r}", remedy=f"use one of: {', '.join(TURN_MOMENTS)}")
    how = choose(TurnSource, source, what="source")
    window = window_of(directory)
    changed = window.turn(_reference(window, session), has_ended=moment == "ended", source=how.value)
    _answer(changed, f"turn {moment}:", as_json)


def _answer(session: Session, words: str, as_json: bool) -> None:
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"session": wire.of_session(session)})
        return
    say(f"{words} {named(session)}")
