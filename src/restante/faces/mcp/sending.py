"""The tools that look beyond the caller's own mail: ``send`` and ``who``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import UsageError
from restante.domain.message import Draft, Priority, choose
from restante.domain.telling import is_of_role
from restante.domain.text import visible
from restante.faces.mcp.arguments import check_known, flag_in, text_in
from restante.faces.mcp.telling import UNPROVEN, Told, check_session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.faces.mcp.telling import Place

WORKTREE = "worktree"
_MOST_ROWS = 40


def send(place: Place, arguments: Mapping[str, object]) -> Told:
    """Write to a session, or leave a message for whoever works in this worktree."""
    to, text = text_in(arguments, "to", needed=True), text_in(arguments, "text", needed=True)
    expires, priority = text_in(arguments, "expires"), text_in(arguments, "priority") or "normal"
    allow = flag_in(arguments, "allow_warnings")
    draft = Draft(
        text,
        subject=text_in(arguments, "subject"),
        priority=choose(Priority, priority, what="priority"),
        client_id=text_in(arguments, "client_id"),
    )
    check_known(arguments, "to", "text", "subject", "priority", "expires", "client_id", "allow_warnings")
    if expires:
        from restante.domain.duration import instant_from

        draft = draft._replace(expires=instant_from(expires, place.tools().clock.now(), what="expires"))
    if to == WORKTREE or to.startswith(f"{WORKTREE}:"):
        return _leave(place, to, draft, allow=allow)
    if is_of_role(to) and not any(row.session.name == to for row in place.window().sessions()):
        return _to_roles(place, to, draft, allow=allow)
    from restante.domain.listing import kept_note, sent_lines

    handed = place.window().post(to.removeprefix("session:"), draft, allow_warnings=allow)
    lines = sent_lines(handed)
    if not place.is_session:
        lines.append(UNPROVEN)
    if note := kept_note(handed):
        lines.append(note)
    if not handed.is_left:
        lines.append(
            f"{handed.counts.pending} pending there, {handed.counts.unseen} unseen; next: wait for an answer, or "
            f'inbox(ids=["{handed.posted.message.id}"]) to see what became of it'
        )
    return Told("\n".join(lines))


def _to_roles(place: Place, to: str, draft: Draft, *, allow: bool) -> Told:
    """Write to whoever holds a role, or to all roles of a team."""
    from restante.domain.listing import copy_line, sent_as

    copies = place.roles().post(to, draft, allow_warnings=allow)
    posted = [one.posted.message for one in copies if one.posted]
    lines = [copy_line(one) for one in copies]
    if not posted:
        return Told("\n".join(lines), is_error=True)
    lines.append(f"sent as: {sent_as(posted[0].sender)}")
    if not place.is_session:
        lines.append(UNPROVEN)
    return Told("\n".join([*lines, "next: wait for an answer, or go on with your work"]))


def _leave(place: Place, to: str, draft: Draft, *, allow: bool) -> Told:
    """Leave a message in the worktree's mailbox, from this session."""
    # What nobody proved would stand there as the person's own word.
    check_session(place)
    office = place.desk().office
    if office is None or to not in (WORKTREE, office.address):
        raise UsageError(f"{to!r} is not the worktree you work in", remedy=f'send to "{WORKTREE}", or to a session')
    sent = office.send(draft, allow_warnings=allow).posted
    word = "already sent" if sent.duplicate else "sent"
    return Told(f"{word} {sent.message.id} to {visible(office.address)}\nnext: go on with your work")


def who(place: Place, arguments: Mapping[str, object]) -> Told:
    """List the sessions, with what mail waits for them."""
    from restante.domain.listing import footer, row_line
    from restante.domain.registry import Presence

    with_gone = flag_in(arguments, "gone")
    check_known(arguments, "gone")
    window = place.window()
    rows = window.sessions()
    over = (Presence.GONE, Presence.DETACHED)
    # Who can be written to comes first; of those that are over, the ones with mail.
    rows.sort(key=lambda row: (row.presence in over, row.presence in over and not row.counts.pending))
    told = rows if with_gone else [row for row in rows if row.presence not in over]
    now, own = place.tools().clock.now(), window.identity.session
    lines = [("* " if row.session.id == own else "  ") + row_line(row, now) for row in told[:_MOST_ROWS]]
    if own and any(row.session.id == own for row in told):
        lines.append("* is this session")
    if len(told) > _MOST_ROWS:
        lines.append(f"{len(told) - _MOST_ROWS} more: restante ls")
    if not lines:
        lines.append("no other session is there")
    lines += footer(told, now)
    if len(told) < len(rows):
        lines.append(f"{len(rows) - len(told)} ended: who(gone=true)")
    waiting = next((row.counts.unseen for row in rows if row.session.id == own), 0)
    lines.append("next: " + ("inbox; " if waiting else "") + 'send(to="NAME", text="...")')
    return Told("\n".join(lines))
