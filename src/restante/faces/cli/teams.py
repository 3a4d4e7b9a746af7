"""``restante join``, ``leave``, ``team``, ``act-as``, ``drop``, ``history``, and what others do with a role."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.domain.errors import NothingThere
from restante.domain.text import iso, visible
from restante.faces.cli.output import say, tell
from restante.faces.cli.team_render import (
    held_words,
    holder_words,
    of_copy,
    of_seat,
    tally_line,
    team_table,
)
from restante.faces.cli.windows import number_from, warn_of, window_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from restante.domain.mailbox import Changes
    from restante.domain.message import Draft
    from restante.domain.registry import Identity
    from restante.domain.team import Copy, RoleReading, Seat
    from restante.ports.roles import Roles


def roster_of(directory: str, *, only_looks: bool = False) -> Roles:
    """Open the roster of whoever calls.

    Args:
        directory: The directory that the caller works in.
        only_looks: Make nothing for a person, who asks what anybody is told.
    """
    from restante.wiring.teams import open_roster

    return open_roster(os.environ, directory, only_looks=only_looks)


def join(role: str, directory: str, as_json: bool) -> None:
    """Make a role a member of its team; a session also takes it."""
    roster = roster_of(directory)
    seat = roster.join(role, worktree=_worktree_of(directory))
    if as_json:
        _print_seat(seat)
        return
    say(f"{seat.member.role} is in its team, {_whose(seat, roster.identity.session)}")
    _say_what_waits(seat, roster.identity.session)


def leave(role: str, directory: str, as_json: bool) -> None:
    """Take a role out of its team; its mail stays."""
    roster = roster_of(directory)
    left = roster.leave(role)
    _tell_freed(roster)
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"role": role, "left": left})
        return
    say(f"{role} left its team; its mail stays" if left else f"{role} is in no team")


def team(team: str | None, directory: str, as_json: bool) -> None:
    """List roles: who holds each, since when, and what mail waits."""
    roster = roster_of(directory, only_looks=True)
    seats = roster.seats(team or "")
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"roles": [of_seat(seat) for seat in seats]})
        return
    if not seats:
        say("no teams")
        tell("a team begins with its first role: restante join TEAM/ROLE")
        return
    say(team_table(seats, roster.identity.session, roster.clock.now()), end="")
    if any(holder_words(seat).endswith("?") for seat in seats):
        say("?: nobody can tell whether its process still lives")
    tell('next: restante post TEAM/ROLE "TEXT"; restante act-as TEAM/ROLE; restante history TEAM')


def act_as(role: str, directory: str, as_json: bool) -> None:
    """Take a role that is free."""
    roster = roster_of(directory)
    seat = roster.act_as(role)
    if as_json:
        _print_seat(seat)
        return
    say(f"you hold {seat.member.role}, {held_words(seat)}")
    _say_what_waits(seat, roster.identity.session)


def drop(role: str, directory: str, as_json: bool) -> None:
    """Let go of a role; its mail waits for whoever takes it next."""
    roster = roster_of(directory)
    released = roster.drop(role)
    _tell_freed(roster)
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"role": role, "released": released or None})
    elif not released:
        say(f"nobody held {role}" if not roster.identity.session else f"you do not hold {role}")
    elif released == roster.identity.session:
        say(f"dropped {role}; its mail waits for whoever takes it next")
    else:
        say(f"took {role} from {visible(released)}; its mail waits for whoever takes it next")


def _tell_freed(roster: Roles) -> None:
    """Say, once, which tasks of the agent program watched the role."""
    if roster.freed:
        tell(f"remove these scheduled tasks of the agent program, which watched it: {visible(' '.join(roster.freed))}")


def history(what: str, limit: str, directory: str, as_json: bool) -> None:
    """Show what was posted to a role or a team, and what became of it."""
    from restante.domain.telling import message_block

    most = number_from(limit, what="--limit", least=1)
    roster = roster_of(directory)
    entries, older = roster.history(what, limit=most)
    if as_json:
        from restante.faces.cli.jsonable import of_entry, print_json

        print_json({"messages": [of_entry(entry) for entry in entries], "older": older})
        return
    if not entries:
        say("no messages")
        return
    now = roster.clock.now()
    names = {one.message.sender.name: roster.name_of(one.message.sender.name) for one in entries}
    blocks = [message_block(one, now, where=one.message.mailbox, names=names) for one in entries]
    if older:
        say(f"{older} older: restante history {what} --limit {older + most}\n")
    say("\n".join(blocks), end="")
    tell("(a look: nothing was marked as seen)")


def post_to_role(to: str, draft: Draft, directory: str, *, allow_warnings: bool, as_json: bool) -> int:
    """Post to a role or to all roles of a team, and say what became of each copy.

    Returns:
        The exit code: that of the first copy that was refused.
    """
    roster = roster_of(directory)
    return tell_copies(roster.post(to, draft, allow_warnings=allow_warnings), roster.identity, as_json=as_json)


def tell_copies(copies: Sequence[Copy], identity: Identity, *, as_json: bool) -> int:
    """Say what became of each copy of a post to roles; return the exit code: that of the first that was refused."""
    from restante.domain.listing import copy_line, sent_as

    posted = [copy.posted for copy in copies if copy.posted]
    if as_json:
        from restante.faces.cli.jsonable import print_json

        conversation = posted[0].message.conversation if posted else ""
        print_json({"copies": [of_copy(copy) for copy in copies], "conversation": conversation})
    else:
        for copy in copies:
            say(copy_line(copy))
        if posted:
            say(f"sent as: {sent_as(posted[0].message.sender)}")
    if posted:
        warn_of(posted[0].message.sender, identity)
        if not as_json:
            tell(f"next: restante receipts {' '.join(one.message.id[-8:] for one in posted[:5])}")
    return _code_of(copies)


def _code_of(copies: Sequence[Copy]) -> int:
    return next((copy.problem.exit_code for copy in copies if copy.problem), 0)


def show_role(role: str, wait: str | None, directory: str, *, peek: bool, as_json: bool) -> None:
    """Show the mail of one role: to its holder, whose reading marks it as seen, or as a look to a person."""
    from restante.domain.mailbox import Counts
    from restante.domain.telling import that_fit
    from restante.faces.cli import showing
    from restante.faces.cli.inputs import office_of

    roster = roster_of(directory)
    tools = office_of(directory, anywhere=True)
    reading = roster.read(role)
    began = roster.clock.now()
    if wait is not None and not reading.counts.unseen:
        seconds = showing.seconds_of(wait, tools)
        if not roster.wait(role, seconds):
            mark = f"high-water mark {reading.counts.high_water}"
            raise showing.nothing_came(tools, seconds, mark, remedy=f"restante inbox {role} --wait {seconds:g}")
        reading = roster.read(role)
    late = (roster.clock.now() - began).total_seconds() > showing.LONGEST_WATCHED_WAIT
    shown = that_fit(reading.entries, roster.settings.inbox_max_bytes)
    is_look = peek or reading.is_peek
    showing.show(
        tools,
        shown,
        len(reading.entries) - len(shown) + reading.left_out,
        Counts(),
        peeking=is_look,
        as_json=as_json,
        session_counts=reading.counts,
        names=_names(roster, reading),
        whose=reading.role if reading.is_peek and not as_json else "",
    )
    unseen = [one.message.id for one in shown if one.standing.seen_at is None]
    if unseen and not is_look:
        roster.confirm(role, unseen, only_noticed=late)


def _names(roster: Roles, reading: RoleReading) -> dict[str, str]:
    senders = {entry.message.sender.name for entry in reading.entries}
    return {one: name for one in senders if (name := roster.name_of(one))}


def status_of_role(role: str, directory: str, as_json: bool) -> None:
    """Show how far the mail of a role got."""
    tally = roster_of(directory, only_looks=True).tally(role)
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"role": role, "tally": tally._asdict()})
        return
    say(tally_line(role, tally))


def tell_roles(directory: str) -> None:
    """Say how far the mail of the roles got that the calling session holds; nothing where it holds none."""
    if not _has_roles():
        return
    roster = roster_of(directory, only_looks=True)
    for role in roster.mine():
        say(tally_line(role, roster.tally(role)))


def _has_roles() -> bool:
    from restante.wiring.teams import TeamParts

    parts = TeamParts(os.environ)
    return parts.has_roles


def watch_role(role: str, since: str | None, timeout: str | None, *, directory: str, as_json: bool) -> int:
    """Follow the mailbox of a role, one line for each event.

    Returns:
        0 when anything came, 5 when the time was over.
    """
    from restante.faces.cli.changes import tell_changes
    from restante.faces.cli.inputs import seconds_from

    roster = roster_of(directory)
    seconds = seconds_from(timeout) if timeout else None

    def begin(cursor: str | None) -> tuple[str, Iterator[tuple[str, Changes]]]:
        here = roster.tip(role) if cursor is None else cursor
        return here, (("", batch) for batch in roster.follow(role, here, seconds))

    return tell_changes(begin, since, f"restante watch {role}", as_json=as_json)


def check_not_of_others(messages: Sequence[str], directory: str) -> None:
    """Refuse what names mail of a role that the calling session does not hold, or no longer.

    Raises:
        RoleHeld: One of the messages is such.
    """
    if _has_roles():
        roster_of(directory).check_not_of_others(messages)


def session_is_called(name: str, directory: str) -> bool:
    """Tell whether a session has a name that looks like a role's."""
    return any(row.session.name == name for row in window_of(directory, only_looks=True).sessions())


def _print_seat(seat: Seat) -> None:
    from restante.faces.cli.jsonable import print_json

    print_json({"role": of_seat(seat)})


def _whose(seat: Seat, own: str) -> str:
    lease = seat.member.lease
    if lease and lease.session == own:
        return f"and you hold it, {held_words(seat)}"
    return f"held by {holder_words(seat)}"


def _say_what_waits(seat: Seat, own: str) -> None:
    lease = seat.member.lease
    if lease and lease.session == own:
        pending = seat.counts.pending
        tell(f"{pending} pending: restante inbox" if pending else f"since {iso(lease.taken)}; no mail waits")
    else:
        tell(f"an agent's session takes it by: restante act-as {seat.member.role}")


def _worktree_of(directory: str) -> str:
    from restante.domain.address import parse_address
    from restante.faces.cli.inputs import office_of

    try:
        return parse_address(office_of(directory).address).name
    except NothingThere:
        return ""
