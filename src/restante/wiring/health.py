"""What ``restante doctor`` says of sessions, their mail and the server: found by looking, nothing is made."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from restante import __version__
from restante.config import load_settings
from restante.domain.errors import RestanteError
from restante.domain.registry import Presence
from restante.domain.setup import Check
from restante.stores.sql.health import fault_in
from restante.system.places import data_directory
from restante.wiring.serving import live_server
from restante.wiring.sessions import open_exchange, open_window
from restante.wiring.switching import Switches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_FILES = ("person", "restante.db", "mail.db", "teams.db", "mail.lock", "server.json", "server.lock")
_DIRECTORIES = ("", "sessions", "turns")
_MOST_NAMED = 3


def session_checks(environment: Mapping[str, str]) -> list[Check]:
    """Return every line, in the order a person mends things."""
    questions: dict[str, Callable[[Mapping[str, str]], Iterator[Check]]] = {
        "sessions": _switch,
        "data directory": _data,
        "database": _database,
        "server": _server,
        "persistence": _persistence,
        "session hooks": _hooks,
    }
    return [check for name, question in questions.items() for check in _guarded(name, partial(question, environment))]


def _guarded(name: str, question: Callable[[], Iterator[Check]]) -> list[Check]:
    try:
        return list(question())
    except RestanteError as error:
        return [Check(name, ok=False, detail=error.message, remedy=error.remedy)]


def _switch(environment: Mapping[str, str]) -> Iterator[Check]:
    is_on = Switches(environment).sessions()
    if is_on is None:
        yield Check("sessions", ok=None, detail="nobody decided whether they are used", remedy="restante install")
    else:
        other = "off" if is_on else "on"
        yield Check("sessions", ok=True, detail=f"{'on' if is_on else 'off'} (restante install --sessions {other})")


def _data(environment: Mapping[str, str]) -> Iterator[Check]:
    """Tell whether others can look into the data directory, which holds secrets and may hold mail."""
    directory = data_directory(environment)
    if not os.path.isdir(directory):
        yield Check("data directory", ok=True, detail=f"{directory}: not made yet")
        return
    paths = [os.path.join(directory, name) for name in (*_DIRECTORIES, *_FILES)]
    for name in _DIRECTORIES[1:]:
        place = os.path.join(directory, name)
        if os.path.isdir(place):
            paths += [os.path.join(place, one) for one in sorted(os.listdir(place))]
    open_to_others = [one.rstrip("/") for one in paths if os.path.exists(one) and os.lstat(one).st_mode & 0o077]
    if open_to_others:
        more = f" and {len(open_to_others) - _MOST_NAMED} more" if len(open_to_others) > _MOST_NAMED else ""
        detail = f"others may look into {', '.join(open_to_others[:_MOST_NAMED])}{more}"
        yield Check("data directory", ok=False, detail=detail, remedy=f"by hand: chmod -R go-rwx '{directory}'")
    else:
        yield Check("data directory", ok=True, detail=f"{directory}: for nobody else")


def _database(environment: Mapping[str, str]) -> Iterator[Check]:
    if load_settings(environment).database_url:
        exchange = open_exchange(environment)
        try:
            exchange.accounts.names()
        finally:
            exchange.close()
        yield Check("database", ok=True, detail="the one of database.url answers")
        return
    names = [name for name in ("restante.db", "mail.db", "teams.db") if os.path.exists(_path(environment, name))]
    for name in names:
        if fault := fault_in(_path(environment, name)):
            remedy = f"by hand: put a copy of {_path(environment, name)} in its place, or move it aside"
            yield Check("database", ok=False, detail=f"{name}: {fault}", remedy=remedy)
        else:
            yield Check("database", ok=True, detail=f"{name}: in order")
    if not names:
        yield Check("database", ok=True, detail="none yet; the first session makes it")


def _server(environment: Mapping[str, str]) -> Iterator[Check]:
    from restante.system.transport import Transport, place_of

    configured = load_settings(environment).server_url
    url = configured or live_server(environment)
    told = _path(environment, "server.json")
    if os.path.exists(told) and not live_server(environment):
        detail = f"{told} was left behind by a server that ended; it is believed no more"
        yield Check("server", ok=None, detail=detail, remedy="restante serve, which writes it anew, or remove it")
    if not url:
        yield Check("server", ok=True, detail="none runs here; commands open the databases themselves")
        return
    place = place_of(url)
    source = " (server.url)" if configured else ""
    remedy = "start it: restante serve" + ("; or unset server.url, which names it" if configured else "")
    answer = Transport(place, {}, remedy=remedy).ask("GET", "/health")
    version = str(answer.get("version", "?")) if isinstance(answer, dict) else "?"
    if version == __version__:
        yield Check("server", ok=True, detail=f"{place.url}{source} answers, version {version}")
    else:
        detail = f"{place.url}{source} answers, version {version}; this is {__version__}"
        yield Check("server", ok=None, detail=detail, remedy="run the same version here and there")


def _persistence(environment: Mapping[str, str]) -> Iterator[Check]:
    found = open_window(environment, os.sep, only_looks=True).persistence()
    if found.is_on:
        yield Check("persistence", ok=True, detail="on: mail between sessions is kept on disk")
    elif found.has_server:
        yield Check("persistence", ok=True, detail="off: the server holds mail between sessions in memory")
    else:
        # Who uses no sessions has nothing to mend.
        ok = None if Switches(environment).sessions() else True
        detail = "off, and no server runs: mail between sessions has no place to wait"
        yield Check("persistence", ok=ok, detail=detail, remedy="restante persist on, or restante serve")


def _hooks(environment: Mapping[str, str]) -> Iterator[Check]:
    """Tell whether the hooks of the sessions that live have reported anything."""
    rows = open_window(environment, os.sep, only_looks=True).sessions()
    living = [row for row in rows if row.presence is Presence.ALIVE]
    silent = sum(row.state == "new" for row in living)
    if silent:
        detail = f"{silent} of {len(living)} live sessions reported no turn yet"
        remedy = "restante install where they work, and start them anew, if they are not just beginning"
        yield Check("session hooks", ok=None, detail=detail, remedy=remedy)
    else:
        detail = f"all {len(living)} live sessions reported turns" if living else "no session lives here"
        yield Check("session hooks", ok=True, detail=detail)


def _path(environment: Mapping[str, str], name: str) -> str:
    return os.path.join(data_directory(environment), name)
