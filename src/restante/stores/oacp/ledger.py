"""Which messages were accepted once: a memory that outlives the audit records, for all projects of a home.

A message is known by the digest of what is signed, not of its file: the same words under one signature more or less are
the same message. Lines are only ever added, one a message and receiver, in one file for each first byte of the digest.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import Damaged
from restante.stores.files import append_line, make_directory, read_file

if TYPE_CHECKING:
    from datetime import datetime

PLACE = ".restante"
_FOLDER = "accepted"
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Spent(NamedTuple):
    """A message that was accepted.

    Attributes:
        at: When, as ISO time.
        project: In which project.
        receiver: By whom.
        message_id: Its id.
    """

    at: str
    project: str
    receiver: str
    message_id: str


class Ledger:
    """The memory of one home.

    Args:
        home: The OACP home.
    """

    def __init__(self, home: str) -> None:
        self._home = home

    def _path(self, digest: str) -> str:
        if not _DIGEST.fullmatch(digest):
            raise Damaged(f"{digest!r:.80} is no SHA-256", remedy="look at the message's audit record")
        return os.path.join(self._home, PLACE, _FOLDER, digest[:2])

    def find(self, digest: str) -> list[Spent]:
        """Return where a message was accepted.

        Args:
            digest: SHA-256 of what is signed.

        Raises:
            StorageFailed: It cannot be read; then nothing can be said.
        """
        data = read_file(self._path(digest)) or b""
        mark, found, place = b'["' + digest.encode() + b'",', [], 0
        while (place := data.find(mark, place)) >= 0:
            end = data.find(b"\n", place)
            try:
                _, *values = json.loads(data[place : end if end >= 0 else len(data)])
                found.append(Spent(*map(str, values)))
            except (ValueError, TypeError):
                # A line that a killed writer cut: it counts, since it was about to.
                found.append(Spent("", "", "", ""))
            place += 1
        return found

    def is_spent(self, digest: str, project: str, receiver: str) -> bool:
        """Tell whether a message may not be accepted here: it was, or it was in another project.

        The other addressees of one message accept the same bytes in the same project.
        """
        return any(not one.project or one.project != project or one.receiver == receiver for one in self.find(digest))

    def spend(self, digest: str, project: str, receiver: str, message_id: str, now: datetime) -> None:
        """Remember, durably, that a message was accepted; once is enough.

        Raises:
            Damaged: The digest is none.
            StorageFailed: It could not be remembered.
        """
        if any((one.project, one.receiver) == (project, receiver) for one in self.find(digest)):
            return
        for path in (os.path.join(self._home, PLACE), os.path.join(self._home, PLACE, _FOLDER)):
            make_directory(path)
        line = json.dumps([digest, f"{now:%Y-%m-%dT%H:%M:%SZ}", project, receiver, message_id], separators=(",", ":"))
        append_line(self._path(digest), line.encode() + b"\n", durable=True)
