"""Changes audit records, wherever they lie: a person's outcome, a checkpoint, the end of work; and looks them over."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from restante.autonomy.finalize import Finalized, finalize
from restante.autonomy.findings import Sweep, sweep
from restante.autonomy.instants import show_instant
from restante.autonomy.outcome import Decided, record_outcome
from restante.autonomy.policy import Policy, parse_policy
from restante.domain.errors import NothingThere, Refused, RestanteError
from restante.domain.inquiry import APPROVED
from restante.stores.oacp.audit import FOLDER, AuditStore
from restante.stores.oacp.layout import AGENTS, PROJECTS
from restante.stores.oacp.reading import read_fields, read_typed
from restante.stores.oacp.trailer import split_trailer
from restante.wiring.checking import book_of
from restante.wiring.intake import open_intake, read_message
from restante.wiring.trusting import verifier_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from restante.autonomy.measuring import Wish
    from restante.ports import Clock


# The parts of a path from projects to a record, and at least one above.
_LEAST_PARTS = 8


class OneRecord:
    """An audit record.

    Args:
        path: Its file.

    Raises:
        NothingThere: There is none.
    """

    def __init__(self, path: str) -> None:
        if not os.path.isfile(path) or os.path.islink(path):
            raise NothingThere(f"audit file does not exist: {path}")
        self.path = path
        self._book, self._name = book_of(path)

    def read(self) -> dict[str, object]:
        """Return what it says."""
        return self._book.read(self._name)

    def decide(self, *, now: datetime, dry_run: bool, **words: object) -> Decided:
        """Write a person's decision; see ``autonomy.outcome.record_outcome``."""
        done: list[Decided] = []

        def edit(record: dict[str, object], _: Sequence[Mapping[str, object]]) -> dict[str, object]:
            done.append(record_outcome(record, now=now, **words))  # type: ignore[arg-type]
            return record if dry_run else done[-1].record

        self._change(edit)
        if not dry_run and words.get("decision") in APPROVED:
            self._remember(done[-1].record)
        return done[-1]

    def _remember(self, record: Mapping[str, object]) -> None:
        """Let the home remember what was let in, where the record lies among those of an agent of a home."""
        way = os.path.abspath(self.path).split(os.sep)
        if len(way) < _LEAST_PARTS:
            return
        *above, projects, project, agents, agent, audit, folder, _ = way
        if (projects, agents, audit, folder) == (PROJECTS, AGENTS, *FOLDER) and record.get("receiver") == agent:
            open_intake(project, agent, home=os.sep.join(above) or os.sep).remember(record)

    def finalize(self, wish: Wish, *, now: datetime, config: str, dry_run: bool) -> Finalized:
        """Write a checkpoint or an end; see ``autonomy.finalize.finalize``."""
        done: list[Finalized] = []
        policy = self._policy(config)

        def edit(record: dict[str, object], siblings: Sequence[Mapping[str, object]]) -> dict[str, object]:
            done.append(finalize(record, wish, now=now, policy=policy, siblings=siblings))
            return record if dry_run else done[-1].record

        self._change(edit)
        return done[-1]

    def _change(self, edit: Callable[[dict[str, object], Sequence[Mapping[str, object]]], dict[str, object]]) -> None:
        self._book.change(self._name, edit)

    def _policy(self, config: str) -> Policy | None:
        path = config or str(self.read().get("policy_path") or "")
        try:
            with open(path, "rb") as stream:
                return parse_policy(read_typed(split_trailer(stream.read(1_048_577)).prefix))
        except (OSError, RestanteError):
            # Without it, what a sender answers widens nothing.
            return None


def look_over(path: str, *, whole: bool) -> Sweep:
    """Return what is wrong with a record, or with all records of a folder.

    Args:
        path: The record, or its folder.
        whole: Look over the record's whole folder.

    Raises:
        NothingThere: There is no such file or folder.
    """
    if os.path.isdir(path):
        base, name = os.path.split(os.path.abspath(path))
        return sweep(AuditStore(base, (name,), "").all())
    if not os.path.exists(path):
        raise NothingThere(f"audit file does not exist: {path}")
    book, name = book_of(path)
    found = book.all()
    if whole:
        return sweep(found)
    return sweep({name: found[name]}) if name in found else Sweep({}, [])


def replacement(record_path: str, record: Mapping[str, object], path: str, clock: Clock) -> dict[str, object]:
    """Return the receipt of a review request that takes the place of the one that a record is about.

    Args:
        record_path: The record's file, in its receiver's own folder.
        record: The record.
        path: The new message.
        clock: The time.

    Raises:
        Refused: It is not proven, or is not the same sender's, of the same thread.
    """
    folder = os.path.dirname(os.path.realpath(record_path))
    agent = os.path.dirname(os.path.dirname(folder))
    project = os.path.dirname(os.path.dirname(agent))
    home = os.path.dirname(os.path.dirname(project))
    raw = read_message(path)
    desk = verifier_of(home, os.path.basename(project), os.path.basename(agent), clock)
    verified = desk.verify(raw, os.path.basename(path))
    if not verified.is_verified:
        raise Refused(f"{path} is {verified.status}", remedy="only a verified message takes another one's place")
    fields = read_fields(raw)
    same = {"from": "sender", "conversation_id": "conversation_id"}
    wrong = [name for name, key in same.items() if not fields.get(name) or fields[name] != record.get(key)]
    if fields.get("type") != "review_request" or fields.get("id") == record.get("message_id") or wrong:
        raise Refused(f"{path} is no other review request of this sender's in this thread")
    return {
        "message_id": fields.get("id"),
        "message_sha256": hashlib.sha256(raw).hexdigest(),
        "sender": fields.get("from"),
        "receiver": record.get("receiver"),
        "conversation_id": fields.get("conversation_id"),
        "source_path": os.path.abspath(path),
        "supersedes_message_id": record.get("message_id"),
        "disposition_at_utc": show_instant(clock.now()),
    }
