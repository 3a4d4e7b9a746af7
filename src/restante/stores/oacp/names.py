"""The forms of names in an OACP tree: agents, projects, messages, files, conversations."""

from __future__ import annotations

import re
from typing import NamedTuple

from restante.autonomy.vocabulary import PRIORITIES

AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
CHANNEL = re.compile(r"[A-Za-z0-9_-]{1,64}")
CONVERSATION = re.compile(r"conv-[0-9]{8}-[A-Za-z0-9._-]{1,64}-[0-9]{1,6}")
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
SUFFIX = re.compile(r"[A-Za-z0-9._-]{1,64}")
NAME_HELP = "letters, digits, '.', '_' and '-', at most 64"
# Units of the lengths of time that commands take, in seconds.
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
# Work asked for comes before news of work, within one priority.
ASKING = frozenset(("task_request", "review_request"))
# A file's time stands first in its name; what cannot be told sorts last.
_FILE = re.compile(r"([0-9]{14})_.*\.yaml", re.DOTALL)


class Place(NamedTuple):
    """Where a message stands in the order in which a receiver works: compare as a tuple."""

    priority: int
    kind: int
    time: str
    name: str


def is_project(name: str) -> bool:
    """Whether a project's name stays within its tree."""
    return bool(name) and name[0] != "." and not set("/\\\0") & set(name)


def place_of(name: str, priority: str, kind: str) -> Place:
    """Return a message's place in the order of work: P0, P1, then P2 and P3 as one; work before news; oldest first.

    Args:
        name: The file's name.
        priority: ``P0`` to ``P3``.
        kind: The message's type.
    """
    rank = min(PRIORITIES.index(priority), 2) if priority in PRIORITIES else 2
    stamp = match.group(1) if (match := _FILE.fullmatch(name)) else "9" * 14
    return Place(rank, 0 if kind in ASKING else 1, stamp, name)
