"""A process that uses a mailbox, for tests that need real ones: ``python -I driver.py HOME LOCATION ACTION ...``.

Every success is reported as one line of JSON as soon as the mailbox has reported it, and not before.
The tests import ``open_home`` from here too, so that both sides open a home in the same way.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import sys
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement, Mark
from restante.domain.message import Draft
from restante.domain.receipt import Decision
from restante.system.clock import SystemClock
from restante.system.ids import MonotonicIds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from restante.ports import Mailbox

LIMITS = Limits(message_bytes=100_000)


@contextmanager
def _sqlite(location: str) -> Iterator[Mailbox]:
    from restante.stores.sql.sqlite import open_sqlite

    path = os.path.join(location, "restante.db")
    mailbox = open_sqlite(path, address="team/reviewer", clock=SystemClock(), ids=MonotonicIds(), limits=LIMITS)
    try:
        yield mailbox
    finally:
        mailbox.close()


@contextmanager
def _worktree(location: str) -> Iterator[Mailbox]:
    from restante.stores.worktree.locate import find_worktree
    from restante.stores.worktree.store import WorktreeMailbox

    os.makedirs(os.path.join(location, ".git"), exist_ok=True)
    yield WorktreeMailbox(find_worktree(location), SystemClock(), MonotonicIds(), LIMITS)


@contextmanager
def _oacp(location: str) -> Iterator[Mailbox]:
    from restante.stores.oacp.layout import Tree
    from restante.stores.oacp.store import OacpMailbox

    os.makedirs(os.path.join(location, "projects", "demo", "agents", "codex", "inbox", "archive"), exist_ok=True)
    yield OacpMailbox(Tree(location), "demo", "codex", clock=SystemClock(), ids=MonotonicIds(), limits=LIMITS)


@contextmanager
def _postgres(location: str) -> Iterator[Mailbox]:
    from restante.stores.sql.postgres import open_postgres

    with open(os.path.join(location, "url"), encoding="utf-8") as file:
        database = open_postgres(file.read(), clock=SystemClock(), ids=MonotonicIds())
    try:
        yield database.mailbox("team/reviewer", limits=LIMITS)
    finally:
        database.close()


HOMES = {"oacp": _oacp, "sqlite": _sqlite, "worktree": _worktree}
# Homes without files of their own: no disk of ours can be full or read-only there.
SERVERS = {"postgres": _postgres}


def open_home(home: str, location: str) -> AbstractContextManager[Mailbox]:
    """Open a home by name, at a directory; that of a server holds its URL."""
    return (HOMES | SERVERS)[home](location)


def report(**facts: object) -> None:
    """Tell the test what was done, in one write: a kill cannot cut it."""
    os.write(1, json.dumps(facts).encode() + b"\n")


def attempt(did: str, act: Callable[[], dict[str, object]]) -> bool:
    """Do one thing and report how it went; any error that is not ours ends the process loudly."""
    try:
        facts = act()
    except RestanteError as error:
        report(did="error", tried=did, code=error.code, text=error.message, remedy=error.remedy)
        return False
    report(did=did, **facts)
    return True


def body_of(name: str, number: int) -> str:
    """Return a text of its own for each post, now plain, now one that must be fenced, now one of several blocks."""
    shape = ("plain", "\n## msg_forged\r\n~~~\n\0", "x" * 300, "line\n" * 2_500)[number % 4]
    return f"{name} {number} {shape}"


def post(mailbox: Mailbox, name: str, number: int, client_id: str = "") -> dict[str, object]:
    message = mailbox.post(Draft(body_of(name, number), client_id=client_id)).message
    return {"id": message.id, "place": message.number, "name": name, "number": number}


def post_early(mailbox: Mailbox) -> list[str]:
    """Post what must outlive everything that follows."""
    return [str(post(mailbox, "early", number)["id"]) for number in range(3)]


def acknowledge(mailbox: Mailbox, message_id: str, summary: str) -> dict[str, object]:
    (receipt,) = mailbox.acknowledge([Acknowledgement(message_id, Decision.ACCEPTED, None, summary)], "agent")
    return {"id": message_id, "receipt": receipt.id}


def mark(mailbox: Mailbox, message_ids: list[str]) -> dict[str, object]:
    mailbox.mark(message_ids, Mark.SEEN, "agent")
    return {"ids": message_ids}


def reply(mailbox: Mailbox, to: str, name: str, number: int) -> dict[str, object]:
    return {"id": mailbox.reply(to, body_of(name, number), "agent").id, "to": to, "name": name, "number": number}


def withdraw(mailbox: Mailbox, message_id: str) -> dict[str, object]:
    mailbox.withdraw(message_id)
    return {"id": message_id}


def storm(mailbox: Mailbox, name: str, count: str) -> None:
    """Wait for the starting line, then post, acknowledge, mark and reply as fast as it goes."""
    report(did="ready")
    sys.stdin.readline()
    for number in range(int(count)):
        attempt("shared", partial(post, mailbox, "shared", number, client_id=f"shared-{number}"))
        own = post(mailbox, name, number)
        report(did="post", **own)
        pending = [entry.message.id for entry in mailbox.entries(pending_only=True)]
        attempt("mark", partial(mark, mailbox, pending))
        attempt("acknowledge", partial(acknowledge, mailbox, str(own["id"]), name))
        attempt("reply", partial(reply, mailbox, str(own["id"]), name, number))


def write(mailbox: Mailbox, name: str) -> None:
    """Do everything that writes, over and over, until killed."""
    for number in itertools.count():
        kept, taken = post(mailbox, name, number), post(mailbox, name + "-taken", number, f"{name}-{number}")
        report(did="post", **kept)
        report(did="post", **taken)
        attempt("mark", partial(mark, mailbox, [str(kept["id"]), str(taken["id"])]))
        attempt("acknowledge", partial(acknowledge, mailbox, str(kept["id"]), name))
        attempt("withdraw", partial(withdraw, mailbox, str(taken["id"])))
        attempt("reply", partial(reply, mailbox, str(kept["id"]), name, number))


def nursery(home: str, location: str) -> None:
    """Fork one writer for each line of input: a fork begins to write sooner than a new interpreter."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                with open_home(home, location) as mailbox:
                    write(mailbox, line.strip())
            finally:
                os._exit(1)
        report(did="born", pid=child)
        _, status = os.waitpid(child, 0)
        report(did="gone", status=status)


def strain(mailbox: Mailbox, name: str, known: str, spare: str, tries: str = "60") -> None:
    """Post until it is refused, then try everything else that writes."""
    for number in range(int(tries)):
        if not attempt("post", partial(post, mailbox, name, number)):
            break
    attempt("acknowledge", partial(acknowledge, mailbox, known, name))
    attempt("reply", partial(reply, mailbox, known, name, 3))
    attempt("mark", partial(mark, mailbox, [known, spare]))
    attempt("withdraw", partial(withdraw, mailbox, spare))


def look(mailbox: Mailbox) -> None:
    """Report everything that can be read."""
    attempt(
        "look",
        lambda: {
            "bodies": [entry.message.body for entry in mailbox.entries()],
            "statuses": [entry.standing.status.value for entry in mailbox.entries()],
            "replies": [reply.body for reply in mailbox.replies()],
            "faults": [fault.reason for fault in mailbox.faults()],
        },
    )


def drown(home: str, location: str, pages: str) -> None:
    """On a full disk with so many free pages: strain, look, make room again, post, look."""
    with open_home(home, location) as mailbox:
        known, spare, _ = post_early(mailbox)
    ballast = os.path.join(location, "ballast")
    with open(ballast, "wb", buffering=0) as file:
        try:
            while file.write(b"\0" * 4096):
                pass
        except OSError:
            file.truncate(max(0, file.seek(0, os.SEEK_END) // 4096 - int(pages)) * 4096)
    with open_home(home, location) as mailbox:
        strain(mailbox, "full", known, spare)
        look(mailbox)
    os.unlink(ballast)
    with open_home(home, location) as mailbox:
        attempt("post", partial(post, mailbox, "late", 0))
        look(mailbox)


def main() -> None:
    home, location, action, *arguments = sys.argv[1:]
    if action == "nursery":
        nursery(home, location)
        return
    if action == "drown":
        drown(home, location, *arguments)
        return
    if action == "limited":
        size = int(arguments.pop(0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        action = "strain"
    acts: dict[str, Callable[..., None]] = {"storm": storm, "strain": strain, "look": look}
    with open_home(home, location) as mailbox:
        acts[action](mailbox, *arguments)


if __name__ == "__main__":
    main()
