"""Where the mail of whoever calls a tool is: an agent's session that its program proved, or nobody in particular.

A program starts a server of tools once and calls it many times, for one session or for several. So every call is asked
anew whose it is, and nothing that a model writes decides that. A call that nothing proves is nobody's: it must not be
taken for the person, as a command without a session is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.desk import Desk
from restante.domain.errors import NoSuchSession, NoWorktree, RestanteError
from restante.domain.registry import Claim, Identity
from restante.system.identity import caller_of, session_now
from restante.wiring import open_office

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.domain.session import Caller
    from restante.office import Office
    from restante.ports.roles import Roles
    from restante.ports.sessions import Window

_THREAD = "CODEX_THREAD_ID"
_SESSION = "CLAUDE_CODE_SESSION_ID"
# No session has such an id: whoever claims to be it is nobody in particular.
_NOBODY = "~"


class Call(NamedTuple):
    """A call of a tool.

    Attributes:
        environment: Where settings come from; it names the session that calls, and no other.
        directory: Where that works.
        caller: Whose call it is; nobody's where it is no agent.
    """

    environment: Mapping[str, str]
    directory: str
    caller: Caller


def call_of(environment: Mapping[str, str], directory: str, *, thread: str = "") -> Call:
    """Return whose call it is.

    Args:
        environment: The server's.
        directory: Where the session works.
        thread: The Codex thread that called, as Codex says with the call.
    """
    if thread:
        environment = {**environment, _THREAD: thread, _SESSION: ""}
    elif environment.get(_SESSION) and (session := session_now(environment)):
        environment = {**environment, _SESSION: session}
    return Call(environment, directory, caller_of(environment))


def desk_of(call: Call, *, sessions_are_used: bool) -> Desk:
    """Return where the caller's mail is. For nobody that is the worktree's mailbox, to look into.

    Args:
        call: The call.
        sessions_are_used: Whether this machine has a register of sessions, or a server: ``peek`` tells.

    Raises:
        NoWorktree: There is no mailbox at all.
        RestanteError: The session's own cannot be opened, and there is no other.
    """
    office: Office | None = None
    outside: NoWorktree | None = None
    try:
        office = open_office(call.directory, environment=call.environment)
    except NoWorktree as error:
        outside = error
    tools = office or open_office(call.directory, environment=call.environment, anywhere=True)
    if not call.caller.is_agent or (office and not office.caller.is_addressee):
        if office is None:
            raise outside or NoWorktree("no worktree here")
        return Desk(office, None, "", tools, call.directory)
    settings = tools.settings
    if settings.server_url or settings.database_url or sessions_are_used:
        try:
            window = window_of(call)
            if window.identity.session:
                return Desk(office, window, "", tools, call.directory)
        except RestanteError as error:
            if office is None:
                raise
            return Desk(office, None, "", tools, call.directory, error)
    if office is None:
        raise outside or NoSuchSession("this session has no mailbox here", remedy="restante session start")
    return Desk(office, None, "", tools, call.directory)


def window_of(call: Call) -> Window:
    """Open the window of whoever calls; that of nobody where nothing proved a session.

    Raises:
        RestanteError: It cannot be opened.
    """
    from restante.wiring.sessions import open_exchange, open_window

    if call.caller.is_agent:
        return open_window(call.environment, call.directory)
    from restante.config import load_settings
    from restante.wiring.serving import live_server

    url = load_settings(call.environment).server_url or live_server(call.environment)
    if url:
        from restante.system.remote import RemoteWindow

        return RemoteWindow(url, Claim(session=_NOBODY))
    return open_exchange(call.environment).window(Identity())


def roster_of(call: Call) -> Roles:
    """Open the roster of whoever calls; that of nobody where nothing proved a session.

    Raises:
        RestanteError: It cannot be opened.
    """
    from restante.wiring.sessions import SessionParts, open_roster

    if call.caller.is_agent:
        return open_roster(call.environment, call.directory)
    from restante.roster import Roster

    return Roster(SessionParts(call.environment), Identity)


def worktree_of(directory: str) -> str:
    """Return the top level of the worktree that a directory belongs to; empty where it belongs to none."""
    from restante.stores.worktree.locate import find_worktree

    try:
        return find_worktree(directory).root
    except NoWorktree:
        return ""


def office_of(window: Window, secret: str) -> Office | None:
    """Return the office of the worktree that a session works in, for a server that the session asks.

    Only where it works on this machine, and for this user: its secret lies where no other user could have put it.

    Args:
        window: The session's window.
        secret: What proved it.
    """
    import os
    from hmac import compare_digest

    from restante.domain.session import Caller
    from restante.office import Office
    from restante.system.places import data_directory
    from restante.system.processes import host_name
    from restante.system.secrets import has_secret, session_secret
    from restante.wiring import WorktreeParts

    try:
        session = next(row.session for row in window.sessions() if row.session.id == window.identity.session)
        data = data_directory(os.environ)
        if not session.worktree or (session.process and session.process.host != host_name()):
            return None
        if not has_secret(data, session.id) or not compare_digest(session_secret(data, session.id), secret):
            return None
        parts = WorktreeParts(session.worktree, os.environ)
        parts.find()
        parts.caller = Caller(session.vendor, session.id)
        return Office(parts)
    except (RestanteError, StopIteration):
        return None
