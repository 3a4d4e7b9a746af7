"""What a million messages of history cost an operation, and the way from one server to another over PostgreSQL."""

from __future__ import annotations

import asyncio
import os
from contextlib import ExitStack

from bench import scale
from bench.server import Served, wakes
from bench.table import Row
from tests import postgres

# Few mailboxes with much behind each; ``python -m bench.scale`` has many with little, and PostgreSQL too.
_MAILBOXES, _EACH = 10, 100_000
_WANTED = ("post", "read what is pending", "acknowledge")


def million(place: str, runs: int) -> list[Row]:
    """Measure operations on a database with 1,000,000 acknowledged messages against those on an empty one."""
    directory = os.path.join(place, "million")
    os.mkdir(directory)
    with scale.sqlite(directory, "empty.db") as empty, scale.sqlite(directory, "full.db") as full:
        scale.fill(full, _MAILBOXES, _EACH)
        mailbox = f"h{_MAILBOXES // 2}"
        sides = scale.Side(empty, mailbox, "session:h7"), scale.Side(full, mailbox, "session:h7")
        measured = {row.what: row.values for row in scale.compare(*sides, runs * 2)}
    return [
        Row(f"{what}, 1,000,000 in history", ours, "ms", f"an empty database ({base:.2f} ms)", ratio, "at most 1.5x")
        for what in _WANTED
        for base, ours, ratio in (measured[what],)
    ]


def two_servers(place: str, runs: int) -> list[Row]:
    """Measure the way from a post at one server to the wait that it frees at another, over PostgreSQL."""
    what, wanted = "post to freed wait, two servers, PostgreSQL", "at most 15 ms"
    if not postgres.binaries():
        return [Row(what, float("nan"), "ms", "not measured: there is no PostgreSQL here", None, wanted)]
    with postgres.running(on_disk=True, fsync="on", full_page_writes="on") as database, ExitStack() as stack:
        servers = []
        for name in ("one", "other"):
            server = Served(place, f"two-{name}", RESTANTE_DATABASE_URL=database.url())
            stack.callback(server.stop)
            servers.append(server)
        wake = asyncio.run(wakes(servers[0].port, servers[1].port, runs * 4))
    return [Row(what, wake, "ms", "", None, wanted)]


PARTS = (million, two_servers)
