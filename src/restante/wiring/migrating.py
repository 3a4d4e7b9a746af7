"""Moving what an installation keeps between a data directory and a PostgreSQL database."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from restante.config import load_settings
from restante.domain.errors import NothingThere, UsageError
from restante.stores import files
from restante.stores.sql.migrating import Moved, Site, migrate
from restante.stores.sql.sqlite import SqliteDatabase
from restante.system.clock import clock_for
from restante.system.ids import MonotonicIds
from restante.system.places import data_directory
from restante.wiring.serving import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# A statement that moves a big mailbox may take its time.
_SILENCE_SECONDS = 600.0
_WAIT_SECONDS = 10.0


def migrate_places(
    source: str, target: str, environment: Mapping[str, str], *, report: Callable[[str], None] | None = None
) -> Moved:
    """Copy everything from one place to another; see ``stores.sql.migrating.migrate``.

    A data directory is taken for this alone meanwhile: with a server on it nothing is moved.

    Args:
        source: The URL of a PostgreSQL database, or a data directory.
        target: The same.
        environment: Where the clock comes from.
        report: Is told in a line, after each commit, how far it is.

    Raises:
        BadConfig: It is no such URL.
        UsageError: Both are the same.
        NothingThere: The source holds nothing.
        Refused: A server serves one of the directories.
        Conflict: The target holds something else than an earlier state of the source; what was there stays.
        Damaged: The copy is not what was copied.
        StorageFailed: One of them cannot be read or written; run it again.
        Busy: One of them could not be had; run it again.
    """
    if "://" not in source and os.path.realpath(source) == os.path.realpath(target):
        # Said before the lock is asked for, which would be held by ourselves.
        raise UsageError(f"{source} is given twice", remedy="name another place to move to")
    with _site(source, environment, must_be_there=True) as one, _site(target, environment) as other:
        return migrate(one, other, report=report)


def place_of(word: str, environment: Mapping[str, str]) -> str:
    """Return the place that a word stands for: ``data`` the data directory, ``database`` what ``database.url`` names.

    Anything else is a place itself. A URL with a password in it need not be typed, where others could see it.

    Raises:
        UsageError: It names no place.
    """
    if word == "data":
        return data_directory(environment)
    if word != "database":
        if not word:
            raise UsageError("no place was named", remedy="data, database, a directory, or postgresql://...")
        return word
    url = load_settings(environment).database_url
    if not url:
        raise UsageError("database.url is not set", remedy="set it, or give the URL itself")
    return url


@contextmanager
def _site(place: str, environment: Mapping[str, str], *, must_be_there: bool = False) -> Iterator[Site]:
    clock, ids = clock_for(environment), MonotonicIds()
    with ExitStack() as held:
        if "://" in place:
            from restante.stores.sql.postgres import PostgresDatabase

            database = PostgresDatabase(place, clock=clock, ids=ids, silence=_SILENCE_SECONDS)
            held.callback(database.close)
            yield Site(database.name, database)
            return
        directory = os.path.realpath(place)
        if must_be_there and not os.path.exists(os.path.join(directory, "restante.db")):
            raise NothingThere(f"there is no restante.db in {directory}", remedy="name the data directory in use")
        held.enter_context(serving({**environment, "RESTANTE_DATA": directory}))
        held.enter_context(files.flocked(os.path.join(directory, "mail.lock"), _WAIT_SECONDS))
        parts = []
        for name in ("restante.db", "mail.db", "teams.db"):
            parts.append(SqliteDatabase(os.path.join(directory, name), clock=clock, ids=ids))
            held.callback(parts[-1].close)
        yield Site(directory, *parts)
