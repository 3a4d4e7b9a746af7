"""A process that uses a tree, for tests that need real ones: ``python -I driver.py HOME ACTION ...``.

Every success is reported as one line as soon as it was reported to us, and not before.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import sys
from datetime import UTC, datetime

from restante.stores.oacp.archive import Archived, archive
from restante.stores.oacp.delivering import deliver
from restante.stores.oacp.layout import Tree
from restante.stores.oacp.posting import Letter, prepare

# All in one second: a name has nothing but chance to tell it from others.
AT = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)


def report(*words: str) -> None:
    """Tell the test what was done, in one write: a kill cannot cut it."""
    os.write(1, (" ".join(words) + "\n").encode())


def send(tree: Tree, count: int | None, *to: str) -> None:
    """Send so many messages, or until killed."""
    for number in itertools.count() if count is None else range(count):
        letter = Letter("alice", to, "question", f"{os.getpid()} {number}", "line\n" * (number % 40) + "end")
        prepared = prepare(tree, "demo", letter, now=AT)
        deliver(tree, prepared)
        report("sent", prepared.name, hashlib.sha256(prepared.raw).hexdigest())


def drain(tree: Tree) -> None:
    """Archive whatever comes, until killed."""
    inbox = tree.path("projects", "demo", "agents", "bob", "inbox")
    while True:
        for name in sorted(os.listdir(inbox)):
            path = os.path.join(inbox, name)
            if name.endswith(".yaml"):
                with open(path, "rb") as file:
                    digest = hashlib.sha256(file.read()).hexdigest()
                if isinstance(archive(path, digest), Archived):
                    report("archived", name, digest)


def main() -> None:
    home, action, *arguments = sys.argv[1:]
    tree = Tree(home)
    if action == "send":
        report("ready")
        sys.stdin.readline()
        send(tree, int(arguments[0]), "bob")
    elif action == "flood":
        send(tree, None, "bob", "carol")
    else:
        drain(tree)


if __name__ == "__main__":
    main()
