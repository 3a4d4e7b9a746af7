"""How a caller of this machine gets a vigil: the monitors of mailboxes, beside teams and the register of sessions."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from typing import TYPE_CHECKING

from restante.domain.errors import Forbidden, Refused, UsageError
from restante.domain.outlook import NO_WAY
from restante.domain.registry import Identity
from restante.vigil import Vigil
from restante.vigil.proving import prove
from restante.wiring.sessions import SessionParts, open_identity

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from restante.domain.registry import Claim
    from restante.ports.monitoring import Monitors, Sights


class MonitorParts(SessionParts):
    """The parts of a vigil; each is made when it is first asked for. See ``SessionParts``."""

    @property
    def monitors(self) -> Monitors:
        """The monitors: teams.db, made by the first arming, or the database that is configured."""
        return self._monitors

    @cached_property
    def all_sights(self) -> Sights:
        """The numbers of mailboxes of every home."""
        from restante.wiring.sights import HomeSights

        return HomeSights(self._environment, self.sights, self.keeping, self.clock)

    def lightly(self) -> AbstractContextManager[None]:
        """Write what this thread keeps of monitors in the block together, and without waiting for the disk."""
        return self._teams.lightly()

    @property
    def command(self) -> str:
        """How an agent calls this installation."""
        from restante.agents.calling import command_name

        return command_name(os.path.dirname(sys.executable), self._environment)

    def adapter(self, vendor: str, name: str = "", *, is_person: bool = True) -> str:
        """Return the name of the way to wake a session; see ``VigilParts.adapter``."""
        from restante.agents.wake import ADAPTERS, DEFAULTS, OF_THE_PERSON

        if not name:
            return DEFAULTS.get(vendor, NO_WAY)
        if name not in (*ADAPTERS, NO_WAY):
            raise UsageError(f"there is no way {name!r} to wake a session", remedy=f"one of: {', '.join(ADAPTERS)}")
        if name in OF_THE_PERSON and not is_person:
            raise Forbidden(
                f"{name} is for the person to choose: it starts a turn over a connection of the program's own",
                remedy="let the person arm it, with --session; or leave --adapter out",
            )
        return name

    def new_token(self) -> str:
        """Return a token that nobody can guess, in the form that scheduled tasks know."""
        from uuid import uuid4

        return f"task-{uuid4()}"


def open_vigil(environment: Mapping[str, str], directory: str = ".", *, arms: bool = True) -> Vigil:
    """Open the vigil of whoever calls. Opening creates nothing.

    Args:
        environment: Where settings and the caller's identity come from.
        directory: Any directory of the worktree that the caller works in.
        arms: Make what proves the person where nothing was ever armed, too.

    Raises:
        BadConfig: The configuration has faults.
        UsageError: There is no place for data.
        Refused: A server is configured; monitors are in its machine's data.
    """
    parts = MonitorParts(environment)
    if parts.settings.server_url:
        raise Refused(
            "monitors are kept beside the mail, and server.url names a server that keeps it",
            remedy="run it on the server's machine; for several machines set database.url instead of server.url",
        )
    only_looks = not (arms or parts.has_roles)
    return Vigil(parts, lambda: open_identity(environment, directory, _prove, only_looks=only_looks))


def _prove(parts: SessionParts, claim: Claim) -> Identity | None:
    return prove(claim, parts.sessions, parts.processes, parts.clock.now(), parts.settings.session_ttl)


def open_host(environment: Mapping[str, str], parts: MonitorParts | None = None) -> Vigil:
    """Open the vigil of a program that hosts receivers: it is no session, and acts for whoever armed.

    Args:
        environment: Where settings and places come from.
        parts: What it is made of, where the program has them already.

    Raises:
        BadConfig: The configuration has faults.
        UsageError: There is no place for data.
    """
    return Vigil(parts or MonitorParts(environment), lambda: Identity("", verified=True))
