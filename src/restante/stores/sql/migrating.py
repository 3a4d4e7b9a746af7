"""Moving everything that an installation keeps from one database to another, as often as it takes.

A mailbox is written with all that belongs to it in one transaction, so it is there whole or not at all. Whoever was
killed in the middle begins again: what arrived whole is found by its digest and passed over.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import Conflict, Damaged, NothingThere, UsageError
from restante.stores.sql.addressing import is_role
from restante.stores.sql.boxes import PREFIX
from restante.stores.sql.tables import (
    COUNTERS,
    MAILBOXES,
    OF_MAILBOX,
    OF_SITE,
    OF_TEAMS,
    SETTINGS,
    encoded,
    pages,
    total_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.stores.sql.rows import Row
    from restante.stores.sql.tables import Movable, Mover, Table, Total

# So many rows of small mailboxes are made durable at once.
_BATCH = 5_000
_PERSISTENCE = "persistence"


class Site(NamedTuple):
    """Where an installation keeps what it keeps.

    Attributes:
        name: How messages name it.
        register: Sessions, settings, accounts, and all mailboxes for which there is no other place.
        mail: The mailboxes of sessions, where they have a place of their own.
        teams: Teams with the mailboxes of their roles, monitors, subscriptions, where they have a place of their own.
    """

    name: str
    register: Movable
    mail: Movable | None = None
    teams: Movable | None = None

    def home(self, place: str) -> Movable:
        """Return where a mailbox belongs, by its address as it is in a database."""
        own = self.mail if place.startswith(PREFIX) else self.teams if is_role(place) else None
        return own or self.register

    def home_of(self, table: Table) -> Movable:
        """Return where the rows of a table belong that belong to no mailbox."""
        return self.teams if self.teams and table in OF_TEAMS else self.register

    @property
    def parts(self) -> tuple[Movable, ...]:
        """All its databases; the one of session mail last."""
        return tuple(one for one in (self.register, self.teams, self.mail) if one is not None)


class Moved(NamedTuple):
    """What the target holds now, and the source too.

    Attributes:
        mailboxes: How many mailboxes.
        already: How many of them were there whole before.
        rows: How many rows belong to them.
        messages: How many of these are messages.
        sessions: How many sessions.
        digest: SHA-256 (hex) over all of it, the same on both sides.
    """

    mailboxes: int
    already: int
    rows: int
    messages: int
    sessions: int
    digest: str


class _Box(NamedTuple):
    """A mailbox of the source: its database, its row, its place there."""

    database: Movable
    row: Row
    place: int

    @property
    def address(self) -> str:
        return str(self.row[0])


def migrate(source: Site, target: Site, *, report: Callable[[str], None] | None = None) -> Moved:
    """Copy everything to a target, and compare both. The source stays as it is; nobody may write to either meanwhile.

    Args:
        source: From where.
        target: To where; it is made if it is not there.
        report: Is told in a line, after each commit, how far it is.

    Raises:
        UsageError: Both are the same.
        NothingThere: The source holds nothing.
        Conflict: The target holds something else than an earlier state of the source; what was there stays.
        Damaged: The copy is not what was copied: the disk of one side is not to be trusted.
        StorageFailed: One of them cannot be read or written; run it again.
        Busy: One of them could not be had; run it again.
    """
    if source.name == target.name:
        raise UsageError(f"{source.name} is given twice", remedy="name another place to move to")
    boxes = _boxes_of(source)
    _check_target(source, target, {box.address: box.row for box in boxes})
    totals: list[Total] = []
    already = 0
    while len(totals) < len(boxes):
        some, were_there = _move_some(boxes[len(totals) :], target)
        totals += some
        already += were_there
        if report:
            report(f"{len(totals)} of {len(boxes)} mailboxes")
    whole = hashlib.sha256()
    for address, total in sorted((box.address, total) for box, total in zip(boxes, totals, strict=True)):
        whole.update(encoded((address, total.digest)))
    sessions = _move_rest(source, target, whole)
    rows, messages = sum(one.rows for one in totals), sum(one.messages for one in totals)
    return Moved(len(boxes), already, rows, messages, sessions, whole.hexdigest())


def _boxes_of(site: Site) -> list[_Box]:
    """Return the mailboxes of a site, database by database.

    Raises:
        NothingThere: There is no database.
        Conflict: One address is in two places.
    """
    found: dict[str, _Box] = {}
    is_there = False
    for database in site.parts:
        with database.reading() as run:
            rows = run.raw(_WITH_PLACE) if run else []
            is_there = is_there or run is not None
        for row in sorted(rows):
            box = _Box(database, row[:-1], row[-1])
            if box.address in found:
                raise Conflict(f"{site.name} has {box.address} twice", remedy="delete one of the two mailboxes")
            found[box.address] = box
    if not is_there:
        raise NothingThere(f"there is nothing in {site.name}", remedy="name a data directory or a URL that is in use")
    return list(found.values())


_WITH_PLACE = MAILBOXES._replace(columns=(*MAILBOXES.columns, "id")).select()
_TAG = MAILBOXES.columns.index("tag")
_LAST_CHANGE = MAILBOXES.columns.index("last_change")


def _check_target(source: Site, target: Site, boxes: dict[str, Row]) -> None:
    """Refuse a target with anything that is not an earlier state of the source."""
    remedy = "name an empty database or directory; nothing was changed"
    for database in target.parts:
        with database.reading() as run:
            rows = run.raw(MAILBOXES.select()) if run else []
        for row in rows:
            known = boxes.get(row[0])
            if known is None or known[_TAG] != row[_TAG]:
                raise Conflict(f"{target.name} holds other mail ({row[0]})", remedy=remedy)
            if row[_LAST_CHANGE] > known[_LAST_CHANGE]:
                raise Conflict(f"{row[0]} went on in {target.name} since it was copied there", remedy=remedy)
    for table in (*OF_SITE, *OF_TEAMS):
        other = set(map(table.key_of, _rows(target, table))) - set(map(table.key_of, _rows(source, table)))
        if other and table is not SETTINGS:
            raise Conflict(f"{target.name} holds other {table.name} ({min(other)[-1]})", remedy=remedy)


def _move_some(boxes: list[_Box], target: Site) -> tuple[list[Total], int]:
    """Copy the first mailboxes of a list, as many as are worth a commit, and compare what arrived.

    Returns:
        What each of them comes to, and how many of them were there whole before.
    """
    first, home = boxes[0].database, target.home(boxes[0].address)
    totals: list[Total] = []
    were_there = 0
    with first.reading() as run:
        assert run
        for box in boxes:
            if (
                box.database is not first
                or target.home(box.address) is not home
                or sum(t.rows for t in totals) > _BATCH
            ):
                break
            totals.append(total_of(run, box.row, box.place))
        moved = list(zip(boxes, totals, strict=False))
        with home.writing(create=True) as write:
            assert write
            for box, total in moved:
                if _found(write, box.address) == total:
                    were_there += 1
                else:
                    _copy(run, box, write)
    with home.reading() as run:
        for box, total in moved:
            if run is None or _found(run, box.address) != total:
                raise Damaged(f"{box.address} is not in {target.name} what it is in the source", remedy="run it again")
    return totals, were_there


def _found(run: Mover, address: str) -> Total | None:
    """Return what the mailbox of an address comes to; ``None`` where there is none."""
    rows = run.raw(_WITH_PLACE + "WHERE address = :address", [{"address": address}])
    return total_of(run, rows[0][:-1], rows[0][-1]) if rows else None


def _copy(run: Mover, box: _Box, write: Mover) -> None:
    """Write a mailbox with all that belongs to it, in the place of an earlier state of it."""
    own: list[dict[str, object]] = [{"address": box.address}]
    if places := write.raw(_WITH_PLACE + "WHERE address = :address", own):
        for table in reversed(OF_MAILBOX):
            write.raw(table.delete("WHERE mailbox = :box"), [{"box": places[0][-1]}])
        write.raw(MAILBOXES.delete("WHERE address = :address"), own)
    write.raw(MAILBOXES.insert(), [MAILBOXES.values(box.row)])
    place = write.raw(_WITH_PLACE + "WHERE address = :address", own)[0][-1]
    for table in OF_MAILBOX:
        for page in pages(run, table, box.place):
            write.raw(table.insert("mailbox"), [{"mailbox": place, **table.values(row)} for row in page])


def _move_rest(source: Site, target: Site, whole: hashlib._Hash) -> int:
    """Copy what belongs to no mailbox, and return how many sessions there are."""
    tables = {table: _rows(source, table) for table in (*OF_SITE, *OF_TEAMS)}
    counters = _counters(source)
    for database in target.parts:
        own = {table: rows for table, rows in tables.items() if target.home_of(table) is database}
        if database is target.teams and not any(own.values()) and not _is_there(database):
            # A place for teams is made by the first of them.
            continue
        with database.writing(create=True) as write:
            assert write
            for table, rows in (own | {COUNTERS: counters}).items():
                write.raw(table.delete())
                write.raw(table.insert(), [table.values(row) for row in rows])
            if database is target.register and target.mail:
                # Its mail is on its disk now.
                write.raw(SETTINGS.insert(), [{"name": _PERSISTENCE, "value": "on"}])
    if _counters(target) != counters or any(_rows(target, table) != rows for table, rows in tables.items()):
        raise Damaged(f"{target.name} does not hold what was written to it", remedy="run it again")
    for row in (row for rows in (*tables.values(), counters) for row in rows):
        whole.update(encoded(row))
    return len(tables[OF_SITE[0]])


def _is_there(database: Movable) -> bool:
    with database.reading() as run:
        return run is not None


def _rows(site: Site, table: Table) -> list[Row]:
    """Return the rows of a table of a site, sorted. How persistence is set belongs to the place, and is left out."""
    with site.home_of(table).reading() as run:
        rows = run.raw(table.select()) if run else []
    return sorted((row for row in rows if (table, row[0]) != (SETTINGS, _PERSISTENCE)), key=table.key_of)


def _counters(site: Site) -> list[Row]:
    """Return the counters of a site.

    One that two files have goes on from where the greater one is, so that no number is given twice; its tag is that
    of session mail, whose watchers then go on where they were.
    """
    found: dict[str, Row] = {}
    for database in site.parts:
        with database.reading() as run:
            for name, tag, last in run.raw(COUNTERS.select()) if run else []:
                found[name] = name, tag, max(last, found[name][2] if name in found else 0)
    return sorted(found.values())
