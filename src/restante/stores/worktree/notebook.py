"""What each session was shown: ``.restante/sessions/<name>.json``, one page a session, each under a lock of its own.

A page that cannot be understood counts as empty: its messages are shown once more, which is the lesser evil.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from restante.domain.checkpoint import Shown
from restante.domain.errors import RestanteError
from restante.stores.files import flocked, make_directory, read_file, remove, replace
from restante.stores.worktree.layout import Layout
from restante.stores.worktree.words import moment, moment_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from restante.ports import Clock
    from restante.stores.worktree.locate import Worktree

WAIT_SECONDS = 5.0
MOST_PAGES = 200
MOST_SECONDS = 7 * 24 * 3600.0

_LONGEST_NAME = 64
_MOST_BYTES = 1 << 20
_MOST_TIMES = 2000


class FileNotebook:
    """``ports.Notebook`` in files.

    Args:
        worktree: The worktree.
        clock: Where time comes from.
    """

    def __init__(self, worktree: Worktree, clock: Clock) -> None:
        self._layout = Layout(worktree)
        self._clock = clock

    @contextmanager
    def page(self, session: str) -> Iterator[Shown]:
        """Open a session's page, alone; it is saved on leaving without an error.

        Where there is no mailbox, nothing can have been shown of it: the page is empty and is not kept.

        Raises:
            StorageFailed: It cannot be opened or saved; then nothing was changed.
            Busy: Another process kept it open for too long.
        """
        self._layout.check()
        if not os.path.isdir(self._layout.box):
            yield Shown()
            return
        self._layout.make()
        make_directory(self._directory)
        path = self._path(session)
        with flocked(path + ".flock", WAIT_SECONDS):
            before = read_file(path, most=_MOST_BYTES)
            shown = _read(before)
            yield shown
            after = _write(shown)
            if after == before or (before is None and not shown.times and not shown.held):
                return
            if before is None:
                self._make_room()
            replace(path, after, durable=False)

    def tear_out(self, session: str) -> None:
        """Forget a session; forgetting twice changes nothing.

        Raises:
            StorageFailed: Its page is there and cannot be removed.
        """
        path = self._path(session)
        if os.path.lexists(path) or os.path.lexists(path + ".flock"):
            with flocked(path + ".flock", WAIT_SECONDS):
                remove(path)
                remove(path + ".flock")

    @property
    def _directory(self) -> str:
        return self._layout.own("sessions")

    def _path(self, session: str) -> str:
        name = session
        is_plain = session.isascii() and session.replace("-", "a").replace("_", "a").isalnum()
        if not is_plain or len(session) > _LONGEST_NAME:
            import hashlib

            name = hashlib.sha256(session.encode(errors="surrogatepass")).hexdigest()[:32]
        return os.path.join(self._directory, f"{name}.json")

    def _make_room(self) -> None:
        """Remove the pages of sessions that ended without a word: old ones, and the oldest of too many."""
        limit = time.time() - MOST_SECONDS
        pages: list[tuple[float, str]] = []
        with os.scandir(self._directory) as found:
            for entry in found:
                changed = _changed(entry)
                if entry.name.endswith(".json"):
                    pages.append((changed, entry.path))
                elif changed < limit:
                    remove(entry.path)
        pages.sort()
        for place, (changed, path) in enumerate(pages):
            if changed < limit or len(pages) - place >= MOST_PAGES:
                with suppress(RestanteError):
                    remove(path)
                    remove(path + ".flock")


def _changed(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def _read(data: bytes | None) -> Shown:
    """Read a page; whatever is not as written by us is passed over."""
    try:
        content = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return Shown()
    if not isinstance(content, dict):
        return Shown()
    times, held = content.get("times"), content.get("held")
    shown = Shown()
    for message_id, text in times.items() if isinstance(times, dict) else ():
        at = moment(text) if isinstance(text, str) and text.endswith("Z") else None
        if at is not None:
            shown.times[message_id] = at
    if isinstance(held, list):
        shown.held.update(one for one in held if isinstance(one, str))
    return shown


def _write(shown: Shown) -> bytes:
    newest = sorted(shown.times.items(), key=lambda one: one[1])[-_MOST_TIMES:]
    content = {
        "version": 1,
        "times": {message_id: moment_text(at) for message_id, at in newest},
        "held": sorted(shown.held)[-_MOST_TIMES:],
    }
    return json.dumps(content, indent=1).encode() + b"\n"
