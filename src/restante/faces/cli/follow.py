"""The person's commands that look at mail: ``status``, ``watch``, ``withdraw``, ``snapshot``, ``archive``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from restante.domain.errors import NoSuchMessage, NothingThere, NoWorktree, UsageError
from restante.domain.telling import is_of_role
from restante.faces.cli.changes import tell_changes
from restante.faces.cli.inputs import office_of, seconds_from
from restante.faces.cli.output import json_line, say, tell
from restante.faces.cli.windows import sessions_are_used

if TYPE_CHECKING:
    from collections.abc import Iterator

    from restante.domain.mailbox import Changes
    from restante.office import Office


def status(message: str | None, directory: str, as_json: bool) -> None:
    """Show what became of your messages; with an ID, everything about one.

    An ID may be shortened to at least six characters of its beginning or end.
    """
    if message is not None and is_of_role(message):
        from restante.faces.cli.teams import status_of_role

        status_of_role(message, directory, as_json)
        return
    if message is not None:
        _status_of(message, directory, as_json)
        return
    office = office_of(directory)
    snapshot = office.snapshot()
    if as_json:
        from restante.faces.cli.jsonable import of_snapshot, print_json

        print_json(of_snapshot(snapshot))
        return
    from restante.faces.cli.render import counts_line, status_table

    say(status_table(snapshot.cases, office.clock.now()), end="")
    say(counts_line(snapshot.counts))
    if sessions_are_used(office.settings):
        from restante.faces.cli.teams import tell_roles

        tell_roles(directory)
    for fault in snapshot.faults:
        tell(f"{fault.source}:{fault.line}: {fault.reason}")


def _status_of(message: str, directory: str, as_json: bool) -> None:
    """Show all about a message of the worktree, or what became of one that was posted to a session."""
    tools = office_of(directory, anywhere=True)
    try:
        case = office_of(directory).case(message)
    except (NoSuchMessage, NoWorktree) as error:
        if not sessions_are_used(tools.settings):
            raise
        _show_trace(message, error, directory, as_json)
        return
    if as_json:
        from restante.faces.cli.jsonable import of_case, print_json
        from restante.faces.cli.why import cause_in

        print_json({"message": of_case(case), "why": cause_in(case.entry.message.id, directory)})
    else:
        from restante.faces.cli.render import case_text

        say(case_text(case, tools.clock.now()), end="")


def _show_trace(message: str, not_here: NothingThere, directory: str, as_json: bool) -> None:
    from restante.faces.cli.post import say_traces, traces_of
    from restante.faces.cli.windows import window_of

    window = window_of(directory)
    try:
        traces = traces_of(window, [message])
    except NoSuchMessage:
        raise not_here from None
    if as_json:
        from restante.domain import wire
        from restante.faces.cli.jsonable import print_json
        from restante.faces.cli.why import cause_in

        print_json({"receipt": wire.of_trace(traces[0]), "why": cause_in(traces[0].message_id, directory)})
    else:
        say_traces(window, traces, directory)


def watch(
    sessions: tuple[str, ...],
    all_sessions: bool,
    since: str | None,
    timeout: str | None,
    follow: bool,
    directory: str,
    as_json: bool,
) -> int:
    """Follow the mailbox live, one line for each event; or tell what happens to sessions.

    Begins with what happens from now on. With --json each line is an object that carries the cursor to go on
    with; in text the cursor is printed at the end, on standard error.
    """
    if len(sessions) == 1 and is_of_role(sessions[0]):
        from restante.faces.cli.teams import watch_role

        return watch_role(sessions[0], since, timeout, directory=directory, as_json=as_json)
    if sessions or all_sessions:
        from restante.faces.cli.watching import watch_sessions

        return watch_sessions(sessions, since, timeout, follow=follow, directory=directory, as_json=as_json)
    if follow:
        raise UsageError("--follow is for --sessions; a mailbox is followed anyway", remedy="leave it out")
    office = office_of(directory)
    seconds = seconds_from(timeout) if timeout else None
    begin = partial(_batches, office, seconds=seconds, directory=directory)
    return tell_changes(begin, since, "restante watch", as_json=as_json)


def _batches(
    office: Office, since: str | None, *, seconds: float | None, directory: str
) -> tuple[str, Iterator[tuple[str, Changes]]]:
    """Return where a watch begins and what it tells, with the role in whose mailbox it happens; none for here."""
    if sessions_are_used(office.settings):
        from restante.faces.cli import team_watch

        if roster := team_watch.roster_with_roles(directory):
            places = team_watch.begin(office, roster, since)
            return places.cursor, team_watch.follow(office, roster, places, seconds)
    # A cursor of somebody who held roles begins with that of the worktree.
    cursor = office.tip() if since is None else since.partition(",")[0]
    return cursor, (("", batch) for batch in office.follow(cursor, seconds))


def withdraw(message: str, directory: str, as_json: bool) -> None:
    """Take a message back before it was acknowledged: one of the worktree's, or one posted to a session."""
    tools = office_of(directory, anywhere=True)
    try:
        entry = office_of(directory).withdraw(message)
    except (NoSuchMessage, NoWorktree) as error:
        if not sessions_are_used(tools.settings):
            raise
        _withdraw_posted(message, error, directory, as_json)
        return
    standing = entry.standing
    if as_json:
        from restante.faces.cli.jsonable import of_standing, print_json

        print_json({"id": entry.message.id, "standing": of_standing(standing)})
        return
    say(f"withdrawn {entry.message.id}")
    if standing.noticed_at or standing.seen_at:
        _warn("the agent read it before" if standing.seen_at else "a checkpoint showed it before")


def _withdraw_posted(message: str, not_here: NothingThere, directory: str, as_json: bool) -> None:
    from restante.domain.overview import Fate
    from restante.faces.cli.post import traces_of
    from restante.faces.cli.windows import window_of

    window = window_of(directory)
    try:
        before = traces_of(window, [message])[0]
    except NoSuchMessage:
        raise not_here from None
    after = window.withdraw(before.message_id)
    if as_json:
        from restante.domain import wire
        from restante.faces.cli.jsonable import print_json

        print_json({"receipt": wire.of_trace(after)})
        return
    say(f"withdrawn {after.message_id}")
    if before.fate is Fate.SEEN:
        _warn("the session read it before")


def _warn(shown: str) -> None:
    tell(f"{shown}: the agent may act on it; send another message if it must stop")


def snapshot(directory: str, as_json: bool) -> None:
    """Print the whole mailbox as JSON."""
    from restante.faces.cli.jsonable import of_snapshot

    say(json_line(of_snapshot(office_of(directory).snapshot()), indent=None if as_json else 2))


def archive(directory: str, as_json: bool) -> None:
    """Move acknowledged, expired and withdrawn messages out of INBOX.md into a dated file beside it."""
    archived = office_of(directory).archive()
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"moved": archived.moved, "kept": archived.kept, "into": archived.into or None})
    elif archived.moved:
        say(f"moved {archived.moved} into {archived.into}; {archived.kept} stay")
    else:
        say(f"nothing to move; {archived.kept} stay")
