"""How a caller of this machine gets a window onto one: here, or through a server."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.config import load_settings
from restante.domain.errors import NoWorktree, Refused, RestanteError, Unauthorized
from restante.domain.registry import Arrival, Claim, Identity
from restante.system.clock import clock_for
from restante.system.identity import caller_of, is_nested, program_above
from restante.system.places import data_directory
from restante.system.secrets import digest, known_person_token, person_token, session_secret
from restante.wiring.serving import live_server
from restante.wiring.session_parts import TEAMS, SessionParts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from restante.domain.session import Caller
    from restante.exchange import Exchange
    from restante.ports.roles import Roles
    from restante.ports.sessions import Window
    from restante.roster import Roster
    from restante.system.remote import RemoteWindow

__all__ = [
    "TEAMS",
    "SessionParts",
    "open_exchange",
    "open_identity",
    "open_local_roster",
    "open_plain_window",
    "open_roster",
    "open_window",
]

# No session has such an id: whoever claims to be it is nobody in particular.
_NOBODY = "~"


def open_exchange(environment: Mapping[str, str], *, holds_mail: bool = False) -> Exchange:
    """Open the exchange of this machine, or of the database that is configured. Reading creates nothing.

    Args:
        environment: Where settings and places come from.
        holds_mail: Hold mail in memory while persistence is off: for a server, which lives on.

    Raises:
        BadConfig: The configuration has faults.
        UsageError: There is no place for data.
    """
    from restante.exchange import Exchange

    exchange = Exchange(SessionParts(environment, holds_mail=holds_mail))
    if holds_mail:
        with suppress(RestanteError):
            exchange.trust_person(person_token(data_directory(environment)))
    return exchange


def open_window(environment: Mapping[str, str], directory: str = ".", *, only_looks: bool = False) -> Window:
    """Open the window of whoever calls.

    Onto the server that is configured, else onto the one of this machine that is proven to live, else onto the
    exchange itself. An agent program's session is registered by its first use; one that is nested in another is no
    session here. A person is proven by the token in the data directory, which is not taken where an agent program is
    among the processes above.

    Args:
        environment: Where settings and the caller's identity come from.
        directory: Any directory of the worktree that the caller works in.
        only_looks: Make nothing for a person who has no token yet: what is asked is told to anybody.

    Raises:
        BadConfig: The configuration has faults.
        UsageError: There is no place for data.
    """
    parts = SessionParts(environment)
    window = _open_window(parts, environment, directory, only_looks=only_looks)
    return _with_roles(window, parts)


def open_identity(
    environment: Mapping[str, str],
    directory: str,
    prove: Callable[[SessionParts, Claim], Identity | None],
    *,
    only_looks: bool = False,
) -> Identity:
    """Return who calls, as its window would say, without a window where the register of this machine proves it.

    Args:
        environment: Where settings and the caller's identity come from.
        directory: Any directory of the worktree that the caller works in.
        prove: Returns who shows something, where that needs nothing to be written first.
        only_looks: Make nothing for a person who has no token yet.

    Raises:
        BadConfig: The configuration has faults.
        UsageError: There is no place for data.
    """
    parts = SessionParts(environment)
    caller = caller_of(environment)
    is_nested_here = caller.is_agent and is_nested(caller.session, _root(directory), environment)
    if not (parts.settings.server_url or is_nested_here):
        claim = _claim(caller, data_directory(environment), environment, only_looks=only_looks)
        if not (claim.secret or caller.is_agent):
            # Who shows nothing and claims nothing is nobody in particular, wherever that is asked.
            return Identity()
        identity = prove(parts, claim) if claim.secret else None
        if identity and identity.session == caller.session:
            return identity
    return _open_window(parts, environment, directory, only_looks=only_looks).identity


def open_plain_window(environment: Mapping[str, str]) -> Window:
    """Open the same window without the mail of roles: onto a server it is a ``RemoteWindow``, which can do more."""
    return _open_window(SessionParts(environment), environment, ".", only_looks=False)


def open_roster(environment: Mapping[str, str], directory: str = ".", *, only_looks: bool = False) -> Roles:
    """Open the roster of whoever calls: teams, their roles and the mail of those. Reading creates nothing.

    Args:
        environment: Where settings and the caller's identity come from.
        directory: Any directory of the worktree that the caller works in.
        only_looks: Make nothing for a person who has no token yet.

    Raises:
        BadConfig: The configuration has faults.
        UsageError: There is no place for data.
    """
    parts = SessionParts(environment)
    window = _open_window(parts, environment, directory, only_looks=only_looks)
    return _roles_of(window, parts)


def open_local_roster(environment: Mapping[str, str], directory: str = ".", *, only_looks: bool = False) -> Roster:
    """Open the same for what only whoever has the data can do.

    Raises:
        Refused: A server is configured, which keeps the roles.
    """
    from restante.roster import Roster

    parts = SessionParts(environment)
    if parts.settings.server_url:
        raise Refused(
            "this needs the data of the teams, and server.url names a server that keeps it",
            remedy="run it on the server's machine; or set database.url instead of server.url",
        )
    window = _open_window(parts, environment, directory, only_looks=only_looks)
    return Roster(parts, lambda: window.identity)


def _with_roles(window: Window, parts: SessionParts) -> Window:
    """Let a window show the mail of the roles that its session holds, where there are roles."""
    if not parts.has_roles:
        return window
    from restante.roster.window import RosterWindow

    return RosterWindow(window, _roles_of(window, parts))


def _roles_of(window: Window, parts: SessionParts) -> Roles:
    """Return what the caller of a window can ask of roles: here, where the data is, or of the server configured."""
    if parts.server:
        from restante.system.remote_roster import RemoteRoster

        return RemoteRoster(parts.server, parts.clock, parts.settings)
    from restante.roster import Roster

    return Roster(parts, lambda: window.identity)


def _open_window(parts: SessionParts, environment: Mapping[str, str], directory: str, *, only_looks: bool) -> Window:
    caller = caller_of(environment)
    root = _root(directory)
    if caller.is_agent:
        caller = caller._replace(is_nested=is_nested(caller.session, root, environment))
    data = data_directory(environment)
    claim = _claim(caller, data, environment, only_looks=only_looks)
    configured = load_settings(environment).server_url
    url = configured or live_server(environment)
    if url:
        remote = _remote(url, configured != "", claim, caller, root, environment)
        # The data of a server of this machine is here; that of one that was named may be anywhere.
        parts.server = remote if configured else None
        return _leaving(remote, caller, claim, root, environment)
    from restante.exchange import Exchange

    exchange = Exchange(parts)
    if caller.is_nested:
        return exchange.window(Identity(claimed=caller.session))
    if not caller.is_agent:
        with suppress(RestanteError):
            if claim.secret and not only_looks:
                exchange.trust_person(claim.secret)
        return exchange.window(exchange.identify(claim))
    identity = exchange.identify(claim)
    if not (identity.verified and exchange.is_there(identity)):
        # What cannot be written down is no reason to let nobody read.
        with suppress(RestanteError):
            _register(exchange.window(identity), caller, claim, root, environment)
            identity = exchange.identify(claim)
    return _leaving(exchange.window(identity), caller, claim, root, environment)


def _remote(
    url: str, is_configured: bool, claim: Claim, caller: Caller, root: str, environment: Mapping[str, str]
) -> RemoteWindow:
    from restante.system.remote import RemoteWindow
    from restante.system.transport import place_of

    if not place_of(url).keeps_secrets:
        # Who could read it on the way could act as this session, or as the person, from then on.
        claim = Claim(session=claim.session)
    if claim == Claim() and (caller.is_nested or program_above(environment)):
        # Name and password in the URL prove a person, and below an agent program none types.
        claim = Claim(session=_NOBODY)
    # Whoever set it long ago, or in another shell, does not think of it.
    remedy = "start it: restante serve; or unset server.url, which names it" if is_configured else ""
    window = RemoteWindow(url, claim, remedy=remedy)
    if not caller.is_agent or caller.is_nested:
        return window
    try:
        if window.identity.session:
            return window
    except Unauthorized:
        # Where there are accounts, a secret proves nothing until it was registered under a name and a password.
        _register(window, caller, claim, root, environment)
        return RemoteWindow(url, claim, remedy=remedy)
    with suppress(RestanteError):
        _register(window, caller, claim, root, environment)
        return RemoteWindow(url, claim, remedy=remedy)
    return window


def _leaving(window: Window, caller: Caller, claim: Claim, root: str, environment: Mapping[str, str]) -> Window:
    """Let an agent that can read its data and not write it, as in a sandbox, leave things for its next checkpoint."""
    is_addressee = caller.is_addressee and claim.secret and root
    data = data_directory(environment)
    if not is_addressee or not os.path.isdir(data) or os.access(data, os.W_OK):
        return window
    from restante.system.outgoing import Outgoing
    from restante.wiring.leaving import LeavingWindow

    outgoing, lasts = Outgoing(root, caller.session, claim.secret), load_settings(environment).session_ttl
    return LeavingWindow(window, outgoing, clock=clock_for(environment), time_to_live=lasts)


def _root(directory: str) -> str:
    from restante.stores.worktree.locate import find_worktree

    try:
        return find_worktree(directory).root
    except NoWorktree:
        return ""


def _claim(caller: Caller, data: str, environment: Mapping[str, str], *, only_looks: bool) -> Claim:
    """Return what a caller can show; a secret that cannot be had leaves a claim."""
    # Below an agent program no person types: one of its commands that drops what names its session must not become
    # the person by that.
    if caller.is_nested or (not caller.is_agent and program_above(environment)):
        return Claim()
    with suppress(RestanteError):
        if caller.is_agent:
            return Claim(session_secret(data, caller.session), caller.session)
        return Claim(known_person_token(data) if only_looks else person_token(data))
    return Claim(session=caller.session)


def _register(window: Window, caller: Caller, claim: Claim, root: str, environment: Mapping[str, str]) -> None:
    from restante.system.processes import agent_process
    from restante.wiring.introducing import introduce

    arrival = Arrival(
        caller.session,
        vendor=caller.agent,
        worktree=root,
        process=agent_process(environment),
        secret_digest=digest(claim.secret) if claim.secret else "",
    )
    introduce(window, arrival, environment)
