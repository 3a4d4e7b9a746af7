"""Whether a database file is in order, found by reading only."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from urllib.parse import quote

_WAIT_SECONDS = 2.0


def fault_in(path: str) -> str:
    """Return what is wrong with a SQLite file in a few words; empty when nothing is, or it is not there.

    Looks at the whole file (``PRAGMA quick_check``): a second for a gigabyte.
    """
    if not os.path.lexists(path):
        return ""
    try:
        place = f"file:{quote(os.path.abspath(path))}?mode=ro"
        with closing(sqlite3.connect(place, uri=True, timeout=_WAIT_SECONDS)) as connection:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return str(error)
    return "" if found == "ok" else str(found).splitlines()[0]
