"""The numbers of monitored mailboxes, of every home, without a letter of their mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.address import Home, parse_address
from restante.domain.errors import NoWorktree, StorageFailed, Unauthorized
from restante.domain.monitor import Sight
from restante.stores.sql.boxes import SqlBoxes
from restante.stores.sql.sights import SqlSights
from restante.system.places import data_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.domain.mailbox import Counts
    from restante.domain.overview import Row
    from restante.ports import Clock
    from restante.ports.monitoring import Sights
    from restante.ports.sessions import Keeping


class HomeSights:
    """``ports.monitoring.Sights`` of roles, sessions and worktrees.

    Args:
        environment: Where settings and places come from.
        roles: The numbers of roles.
        keeping: Where the mail of sessions is.
        clock: Where time comes from.
    """

    def __init__(self, environment: Mapping[str, str], roles: Sights, keeping: Keeping, clock: Clock) -> None:
        self._environment = environment
        self._roles = roles
        self._keeping = keeping
        self._clock = clock

    def look(self, mailbox: str, owner: str, *, whole: bool = False) -> Sight:
        """Return what is to be seen of a mailbox; see ``ports.monitoring.Sights``."""
        address = parse_address(mailbox)
        if address.home is Home.ROLE:
            return self._roles.look(mailbox, owner, whole=whole)
        if address.home is Home.SESSION:
            return self._of_session(address.name, owner, whole=whole)
        from restante.wiring import open_mailbox

        try:
            return _sight_of(open_mailbox(mailbox, environment=self._environment).counts(), whole=whole)
        except NoWorktree as error:
            raise StorageFailed(error.message, remedy=error.remedy) from None

    def _of_session(self, session: str, owner: str, *, whole: bool) -> Sight:
        with self._keeping.held() as boxes:
            if isinstance(boxes, SqlBoxes):
                return SqlSights(boxes.database, self._clock).look(f"session:{session}", owner, whole=whole)
            if boxes is not None:
                counts = boxes.counts(owner, [session])
                return _sight_of(counts[session], whole=whole) if session in counts else Sight()
        return self._asked(session, whole=whole)

    def _asked(self, session: str, *, whole: bool) -> Sight:
        """Ask the server that holds mail in its memory; without one there is none."""
        from restante.wiring.serving import live_server

        url = live_server(self._environment)
        if not url:
            return Sight()
        rows = self._rows(url, session)
        return next((_sight_of(one.counts, whole=whole) for one in rows if one.session.id == session), Sight())

    def _rows(self, url: str, session: str) -> list[Row]:
        from restante.domain.registry import Claim
        from restante.system.remote import RemoteWindow
        from restante.system.secrets import has_secret, session_secret

        try:
            return RemoteWindow(url, Claim()).sessions()
        except Unauthorized:
            # Where there are accounts, whoever has the data of this machine asks as the session that it is about.
            if not has_secret(data := data_directory(self._environment), session):
                raise
            return RemoteWindow(url, Claim(session_secret(data, session), session)).sessions()


def _sight_of(counts: Counts, *, whole: bool) -> Sight:
    # Where a home counts no more than this, what was told of is counted as queued, and what expired as acknowledged.
    mark = counts.high_water if counts.unseen else 0
    return Sight(mark, counts.unseen, counts.pending, 0, counts.total - counts.pending if whole else 0)
