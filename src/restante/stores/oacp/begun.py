"""What an agent has begun with an answer and not ended: whoever comes after a kill ends it instead of answering twice.

One file of ours for each such message, ``projects/<project>/state/restante/<agent>/begun/<its sha256>.json``, durable
before the answer goes out. It counts only where the answer stands in the outbox.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.autonomy.measuring import Wish
from restante.domain.errors import Damaged, NothingThere, RestanteError
from restante.ports.receiving import After, Begun
from restante.stores.files import remove, replace
from restante.stores.oacp.delivering import mend
from restante.stores.oacp.index import make_ours
from restante.stores.oacp.layout import AGENTS, OURS, OUTBOX, PROJECTS, STATE

if TYPE_CHECKING:
    from collections.abc import Container

    from restante.stores.oacp.layout import Tree

_PLACE = "begun"
_MOST_BYTES = 1 << 20
# What a round says of work; the rest of a wish is for other verbs.
_LISTS = ("realized", "artifacts")
_WISH = ("final_state", "actual_minutes", "actual_files_touched", "started_at", "completed_at", *_LISTS)


class Ledge:
    """The begun answers of one agent."""

    def __init__(self, tree: Tree, project: str, agent: str) -> None:
        self._tree = tree
        self._project = project
        self._agent = agent
        self._way = (PROJECTS, project, STATE, OURS, agent)

    def note(self, digest: str, begun: Begun, file: str) -> None:
        """Write down what follows an answer that is about to be sent under a file's name.

        Raises:
            StorageFailed: It is not written; nothing may be sent.
        """
        after = begun.after
        wish = {name: getattr(after.wish, name) for name in _WISH} if after.wish else None
        value = {"reply": begun.reply, "sent_as": file, **after._asdict(), "wish": wish}
        make_ours(self._tree, self._project, self._agent)
        with self._tree.open(*self._way) as agent, agent.make(_PLACE) as ledge:
            replace(ledge.at(_name(digest)), json.dumps(value).encode())

    def find(self, digest: str) -> Begun | None:
        """Return what follows an answer that was sent; ``None`` where none was.

        Raises:
            Damaged: It was begun, and cannot be known with what.
        """
        try:
            with self._tree.open(*self._way, _PLACE) as ledge:
                found = ledge.read(_name(digest), _MOST_BYTES)
                path = ledge.at(_name(digest))
        except NothingThere:
            return None
        if found is None:
            return None
        try:
            begun, file = _parsed(found[0])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise Damaged(
                f"{path} cannot be read, so that an answer may be out already",
                remedy="look into the outbox, then remove it",
            ) from None
        # A killed sender's answer is out as soon as its first reader has it.
        mend(self._tree, self._project)
        return begun if self._is_out(file) else None

    def end(self, digest: str) -> None:
        """Forget it: all that followed is done."""
        with suppress(RestanteError), self._tree.open(*self._way, _PLACE) as ledge:
            if ledge.status(_name(digest)) is not None:
                remove(ledge.at(_name(digest)))

    def tidy(self, waiting: Container[str]) -> None:
        """Forget what was begun with messages that do not wait any more: their archiving was the end of it."""
        with suppress(RestanteError, OSError), self._tree.open(*self._way, _PLACE) as ledge:
            for name in os.listdir(ledge.fd):
                with suppress(ValueError, KeyError, TypeError, AttributeError):
                    found = ledge.read(name, _MOST_BYTES)
                    if found and _parsed(found[0])[0].after.file not in waiting:
                        ledge.drop(name)

    def _is_out(self, file: str) -> bool:
        with suppress(NothingThere), self._tree.open(PROJECTS, self._project, AGENTS, self._agent, OUTBOX) as outbox:
            return outbox.status(file) is not None
        return False


def _name(digest: str) -> str:
    return f"{digest}.json"


def _parsed(raw: bytes) -> tuple[Begun, str]:
    value = json.loads(raw)
    reply, file, wish = str(value.pop("reply")), os.path.basename(value.pop("sent_as")), value.pop("wish")
    said = None if wish is None else Wish(**wish | {name: tuple(wish[name]) for name in _LISTS})
    return Begun(reply, After(wish=said, **value)), file
