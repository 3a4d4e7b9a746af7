"""``restante watch --sessions``: whose turn ended, whose mail came or went, since a cursor."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from restante.domain import wire
from restante.domain.errors import NoSuchSession, UsageError
from restante.domain.listing import row_line
from restante.domain.text import counted, one_line
from restante.faces.cli.inputs import office_of, seconds_from
from restante.faces.cli.output import say, tell
from restante.faces.cli.windows import row_of, window_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from restante.domain.overview import Watched
    from restante.office import Office
    from restante.ports.sessions import Window

_BEGINNING = "start"
# So many lines of one answer are shown: a model reads them.
_MOST_LINES = 50


def watch_sessions(
    sessions: Sequence[str], since: str | None, timeout: str | None, *, follow: bool, directory: str, as_json: bool
) -> int:
    """Tell what happened to sessions since a cursor: at once what did already, else the first news.

    Returns:
        0 when there was any, 5 when the time was over. The cursor to go on with is printed in either case.
    """
    office = office_of(directory, anywhere=True)
    seconds = seconds_from(timeout) if timeout else None if follow else office.settings.inbox_wait
    window = window_of(directory, only_looks=True)
    wanted = _whole_ids(window, sessions)
    cursor = "" if since in {None, _BEGINNING} else str(since)
    came = False
    try:
        while True:
            watched = _ask(window, cursor, wanted, seconds)
            cursor = watched.cursor
            news = bool(watched.rows or watched.gone)
            came = came or news
            _tell(watched, office, as_json)
            if not follow or (seconds is not None and not news):
                break
            # One that is gone is told each time it is asked for.
            still = [one for one in wanted if one not in watched.gone]
            if wanted and not still:
                break
            wanted = still
    except KeyboardInterrupt:
        came = True
    _end(cursor, sessions, came, office, as_json)
    return 0 if came else 5


def _ask(window: Window, cursor: str, wanted: Sequence[str], seconds: float | None) -> Watched:
    try:
        # Without an end it asks in turns: a server that went away is noticed, and Ctrl-C is heard.
        return window.watch(cursor, wanted, wait=60.0 if seconds is None else seconds)
    except UsageError as error:
        raise UsageError(error.message, remedy="--since start, or the cursor that a watch ended with") from None


def _whole_ids(window: Window, sessions: Sequence[str]) -> list[str]:
    """Return whole ids; what names nobody stays as it is, and is told as gone."""
    if not sessions:
        return []
    rows = window.sessions()
    ids = []
    for one in sessions:
        try:
            ids.append(row_of(rows, one).session.id)
        except NoSuchSession as error:
            if "means" in error.message:
                raise
            ids.append(one)
    return ids


def _tell(watched: Watched, office: Office, as_json: bool) -> None:
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json(wire.of_watched(watched))
    else:
        now = office.clock.now()
        # Those that deserve a look come first.
        rows = sorted(watched.rows, key=lambda row: row.reason is None)
        for row in rows[:_MOST_LINES]:
            say(row_line(row, now))
        if len(rows) > _MOST_LINES:
            say(f"{len(rows) - _MOST_LINES} more changed: restante ls --limit {len(rows)}")
        for one in watched.gone[:_MOST_LINES]:
            say(f"{one_line(one, 160)}  gone: there is no such session")
        if len(watched.gone) > _MOST_LINES:
            say(counted(len(watched.gone) - _MOST_LINES, "more is gone", "more are gone"))
    sys.stdout.flush()


def _end(cursor: str, sessions: Sequence[str], came: bool, office: Office, as_json: bool) -> None:
    if as_json:
        return
    if not came:
        from restante.domain.text import iso

        # The time differs from call to call, so that nobody takes two waits for a loop that is stuck.
        tell(f"nothing happened (at {iso(office.clock.now())})")
    which = " ".join(sessions) if sessions else "--sessions"
    tell(f"go on with: restante watch {which} --since {cursor}")
