"""The audit records of one receiver: written before anybody learns the verdict, found without reading them all.

After OACP 0.5.3, section 6.8 of the specification. All evaluations of one message happen one after the other, under a
lock that other programs of the format take, too: two that come at once cannot both accept. A step over several records
is written down first, so that whoever comes after a killed writer ends it.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from restante.autonomy.checkpoint import WAITING
from restante.autonomy.findings import Unread
from restante.autonomy.record import evaluation_id
from restante.autonomy.succession import succeed
from restante.autonomy.threads import ACCEPTED_GRANT, AUDIT_FILE
from restante.autonomy.vocabulary import ACCEPTED, LIVE_STATES, PAUSED
from restante.autonomy.workclock import part
from restante.domain.errors import Damaged, NothingThere, Refused, RestanteError
from restante.ports.intake import Admission
from restante.stores.files import flocked, replace
from restante.stores.oacp.audit_file import (
    DoubleKey,
    check_name,
    facts_of,
    identity_name,
    parse_record,
    record_name,
    render_record,
    safe_id,
)
from restante.stores.oacp.audit_index import PENDING, AuditIndex, Memory, message_key, thread_key
from restante.stores.oacp.audit_step import WAIT_SECONDS, end_step, end_steps, written
from restante.stores.oacp.directory import Directory
from restante.stores.oacp.layout import AGENTS, PROJECTS
from restante.stores.oacp.reading import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from restante.autonomy.succession import Succession
    from restante.stores.oacp.ledger import Ledger

FOLDER = ("audit", "autonomy_decisions")
_REPLAYED = "message_replayed"
_MEND = "mend it or put it aside"


class AuditStore:
    """A ``ports.intake.AuditBook``.

    Args:
        base: A directory that exists.
        names: The way from there to the folder of the records; made when something is written.
        receiver: Whose records.
        project: In which project; empty where that is not known.
        ledger: The home's memory of accepted mail, where there is one.
    """

    def __init__(
        self, base: str, names: Sequence[str], receiver: str, *, project: str = "", ledger: Ledger | None = None
    ) -> None:
        self._base = base
        self._names = tuple(names)
        self._receiver = receiver
        self._project = project
        self._ledger = ledger
        self._memory = Memory()

    @classmethod
    def of_agent(cls, home: str, project: str, receiver: str, ledger: Ledger | None = None) -> AuditStore:
        """Return the records of an agent of a project, both of which exist."""
        way = (PROJECTS, project, AGENTS, receiver, *FOLDER)
        return cls(home, way, receiver, project=project, ledger=ledger)

    @property
    def path(self) -> str:
        """The folder of the records."""
        return "/".join((self._base, *self._names))

    def admit(
        self,
        message: Mapping[str, object],
        evaluate: Callable[[Sequence[Mapping[str, object]]], dict[str, object]],
        *,
        now: datetime,
        payload_digest: str = "",
        auth: Mapping[str, object] | None = None,
    ) -> Admission:
        """See the port."""
        message_id = _text(message.get("id"))
        identity = identity_name(self._receiver, message_id)
        with self._made() as folder:
            is_tried = False
            while True:
                with flocked(folder.at(identity + ".lock"), WAIT_SECONDS):
                    index = AuditIndex(folder, self._memory)
                    if identity + PENDING in index.pending:
                        end_step(folder, identity + PENDING)
                        index = AuditIndex(folder, self._memory)
                    others = [name for name in index.pending if name != identity + PENDING]
                    if is_tried or not others:
                        return self._admitted(folder, index, message, evaluate, now, payload_digest, auth)
                # Two locks of this kind are never held together.
                end_steps(folder, others)
                is_tried = True

    def _admitted(
        self,
        folder: Directory,
        index: AuditIndex,
        message: Mapping[str, object],
        evaluate: Callable[[Sequence[Mapping[str, object]]], dict[str, object]],
        now: datetime,
        payload_digest: str,
        auth: Mapping[str, object] | None,
    ) -> Admission:
        message_id = _text(message.get("id"))
        self._check_readable(folder, index, message_id)
        history = self._history(folder, index, message)
        is_spent = self._is_spent(payload_digest)
        if is_spent:
            history.append(self._remembered(message_id))
        decision = evaluate(history)
        self._check_grant(folder, index, decision)
        codes = decision.get("reason_codes")
        if isinstance(codes, list) and _REPLAYED in codes:
            if not is_spent:
                self._spend(payload_digest, message_id, now)
            return Admission(decision, is_replay=True)
        return self._persist(folder, index, decision, message_id, now, payload_digest, auth)

    def _is_spent(self, payload_digest: str) -> bool:
        if self._ledger is None or not payload_digest:
            return False
        return self._ledger.is_spent(payload_digest, self._project, self._receiver)

    def _spend(self, payload_digest: str, message_id: str, now: datetime) -> None:
        if self._ledger is not None and payload_digest:
            self._ledger.spend(payload_digest, self._project, self._receiver, message_id, now)

    def _remembered(self, message_id: str) -> dict[str, object]:
        return {"receiver": self._receiver, "message_id": message_id, "decision": ACCEPTED, AUDIT_FILE: None}

    def remember(self, message_id: str, payload_digest: str, now: datetime) -> None:
        """Remember that a message was let in by a person, so that it is not let in again.

        Raises:
            StorageFailed: It could not be remembered.
        """
        self._spend(payload_digest, message_id, now)

    def _persist(
        self,
        folder: Directory,
        index: AuditIndex,
        decision: Mapping[str, object],
        message_id: str,
        now: datetime,
        payload_digest: str,
        auth: Mapping[str, object] | None,
    ) -> Admission:
        names = index.find([message_key(self._receiver, message_id)])
        with ExitStack() as locks:
            for name in names:
                locks.enter_context(flocked(folder.at(name + ".lock"), WAIT_SECONDS))
            raws = {name: raw for name in names if (raw := self._raw(folder, name)) is not None}
            family = {name: parse_record(raw) for name, raw in raws.items()}
            step = succeed(_named_apart(decision, family.values()), family, now=now)
            if step.adopted:
                return Admission(step.record, step.adopted, is_adopted=True)
            name = _free_name(folder, message_id, now, _text(step.record.get("evaluation_id")))
            locks.enter_context(flocked(folder.at(name + ".lock"), WAIT_SECONDS))
            pending = identity_name(self._receiver, message_id) + PENDING
            with written(folder, name, _proven(step, auth), raws, pending):
                if step.record.get("decision") == ACCEPTED:
                    self._spend(payload_digest, message_id, now)
        for one, record in {**step.closed, name: step.record}.items():
            index.noted(one, facts_of(record))
        return Admission(step.record, name, superseded=tuple(step.closed))

    def change(
        self, name: str, edit: Callable[[dict[str, object], Sequence[Mapping[str, object]]], dict[str, object]]
    ) -> dict[str, object]:
        """See the port."""
        check_name(name)
        with self._opened() as folder:
            index = self._index(folder)
            if folder.status(name) is None:
                raise NothingThere(f"{folder.at(name)} is not there")
            with flocked(folder.at(name + ".lock"), WAIT_SECONDS):
                record = self._record(folder, name)
                key = message_key(_text(record.get("receiver")), _text(record.get("message_id")))
                others = [one for one in index.find([key]) if one != name]
                siblings = [found for one in others if (found := self._readable(folder, one)) is not None]
                changed = edit(record, siblings)
                if changed != record:
                    replace(folder.at(name), render_record(changed))
                    index.noted(name, facts_of(changed))
                return changed

    def attach_auth(self, name: str, auth: Mapping[str, object], digest: str) -> None:
        """See the port."""

        def attach(record: dict[str, object], _: Sequence[Mapping[str, object]]) -> dict[str, object]:
            result = record.get("result")
            if not isinstance(result, dict):
                raise Damaged(f"{name} has no result")
            if record.get("message_sha256") != digest:
                raise Refused(f"{name} is about other bytes than those that were verified")
            if result.get("message_auth") is not None:
                raise Refused(f"{name} says already what its signature proved", remedy="nothing of it is replaced")
            return {**record, "result": _with_auth(result, auth)}

        self.change(name, attach)

    def history(self, message: Mapping[str, object]) -> list[dict[str, object]]:
        """See the port."""
        try:
            with self._opened() as folder:
                return self._history(folder, self._index(folder), message)
        except NothingThere:
            return []

    def waiting(self) -> list[tuple[str, dict[str, object]]]:
        """See the port."""
        try:
            with self._opened() as folder:
                live = [row.name for row in self._index(folder).rows() if row.state in LIVE_STATES]
                found = [(name, self._readable(folder, name)) for name in live]
        except NothingThere:
            return []
        return [(name, record) for name, record in found if record is not None and _is_waiting(record)]

    def read(self, name: str) -> dict[str, object]:
        """Return one record.

        Raises:
            NothingThere: There is no such record.
            Damaged: It cannot be read.
        """
        check_name(name)
        with self._opened() as folder:
            self._index(folder)
            return self._record(folder, name)

    def named(self, evaluation_id: str) -> str:
        """Return the name of the record of an evaluation; empty where there is none."""
        try:
            with self._opened() as folder:
                rows = self._index(folder).rows()
        except NothingThere:
            return ""
        return next((row.name for row in rows if row.evaluation == evaluation_id), "")

    def of_message(self, message_id: str) -> list[tuple[str, dict[str, object]]]:
        """Return the records of a message that can be read, the oldest first, with the names of their files."""
        try:
            with self._opened() as folder:
                names = self._index(folder).find([message_key(self._receiver, message_id)])
                found = [(name, self._readable(folder, name)) for name in names]
        except NothingThere:
            return []
        return [(name, record) for name, record in found if record is not None]

    def all(self) -> dict[str, dict[str, object] | Unread]:
        """Return every record by name, and why a file gave none; this reads them all."""
        with self._opened() as folder:
            return {name: self._read_or_why(folder, name) for name in self._index(folder).names()}

    def _read_or_why(self, folder: Directory, name: str) -> dict[str, object] | Unread:
        try:
            return self._record(folder, name)
        except DoubleKey as error:
            return Unread("duplicate_yaml_key", error.message)
        except RestanteError as error:
            return Unread("record_unparsable", error.message)

    def _check_readable(self, folder: Directory, index: AuditIndex, message_id: str) -> None:
        """Refuse where a record of this message cannot be read: it may say that the message ran already."""
        mark = safe_id(message_id)
        own = [
            name for name in index.find([message_key(self._receiver, message_id)]) if not self._is_whole(folder, name)
        ]
        for name in (*own, *(one for one in index.unreadable() if mark in one)):
            raise Damaged(
                f"{folder.at(name)} cannot be read, so that a replay of {message_id!r:.120} cannot be ruled out",
                remedy=_MEND,
            )

    def _is_whole(self, folder: Directory, name: str) -> bool:
        try:
            self._record(folder, name)
        except NothingThere:
            return True
        except RestanteError:
            return False
        return True

    def _history(self, folder: Directory, index: AuditIndex, message: Mapping[str, object]) -> list[dict[str, object]]:
        ids = [_text(message.get(name)) for name in ("id", "parent_message_id")]
        keys = [message_key(self._receiver, one) for one in ids if one]
        if thread := _text(message.get("conversation_id")):
            keys.append(thread_key(thread))
        found = [(name, self._known(folder, name)) for name in index.find(keys)]
        found += [(name, self._readable(folder, name)) for name in index.odd()]
        return [{**record, AUDIT_FILE: name} for name, record in found if record is not None]

    def _known(self, folder: Directory, name: str) -> dict[str, object] | None:
        """Return a record that is known to matter; ``None`` where it vanished.

        Raises:
            Damaged: It cannot be read: what it says, a denial perhaps, must not be passed over.
        """
        try:
            return self._record(folder, name)
        except NothingThere:
            return None
        except RestanteError as error:
            raise Damaged(
                f"{folder.at(name)} cannot be read, so that what was decided in this thread is not known: "
                f"{error.message:.200}",
                remedy=_MEND,
            ) from None

    @staticmethod
    def _check_grant(folder: Directory, index: AuditIndex, decision: Mapping[str, object]) -> None:
        """Refuse where a standing approval counts beside records that cannot be read: one may be its denial."""
        if part(decision, "continuation_grant").get("decision") == ACCEPTED_GRANT and (broken := index.unreadable()):
            raise Damaged(
                f"{folder.at(broken[0])} cannot be read, so that it is not known whether the grant for this thread "
                "was revoked",
                remedy=_MEND,
            )

    def _readable(self, folder: Directory, name: str) -> dict[str, object] | None:
        try:
            return self._record(folder, name)
        except RestanteError:
            return None

    def _record(self, folder: Directory, name: str) -> dict[str, object]:
        raw = self._raw(folder, name)
        if raw is None:
            raise NothingThere(f"{folder.at(name)} is not there")
        return parse_record(raw)

    @staticmethod
    def _raw(folder: Directory, name: str) -> bytes | None:
        found = folder.read(name, MOST_BYTES + 1)
        return None if found is None else found[0]

    @contextmanager
    def _opened(self) -> Iterator[Directory]:
        with Directory.open(self._base, self._names) as folder:
            yield folder

    @contextmanager
    def _made(self) -> Iterator[Directory]:
        with ExitStack() as stack:
            folder = stack.enter_context(Directory.open(self._base, ()))
            for name in self._names:
                folder = stack.enter_context(folder.make(name) if name in FOLDER else folder.inside(name))
            yield folder

    def _index(self, folder: Directory) -> AuditIndex:
        """Return the index after every step that was left half done is ended."""
        index = AuditIndex(folder, self._memory)
        if not index.pending:
            return index
        end_steps(folder, index.pending)
        return AuditIndex(folder, self._memory)


def _named_apart(decision: Mapping[str, object], family: Iterable[Mapping[str, object]]) -> Mapping[str, object]:
    """Return a record with a name that no other evaluation has: two within one second would have the same."""
    taken = {one.get("evaluation_id") for one in family}
    named = dict(decision)
    parts = [_text(decision.get(key)) for key in ("receiver", "message_id", "message_sha256", "created_at_utc")]
    for number in range(2, len(taken) + 2):
        if named.get("evaluation_id") in taken:
            named["evaluation_id"] = evaluation_id(parts[0], parts[1], parts[2], f"{parts[3]}#{number}")
    return named


def _free_name(folder: Directory, message_id: str, now: datetime, evaluation: str) -> str:
    name = record_name(message_id, now)
    return name if folder.status(name) is None else record_name(message_id, now, evaluation)


def _proven(step: Succession, auth: Mapping[str, object] | None) -> Succession:
    """Put what a signature proved into a new record, though not into what is told of it: it is no part of a verdict."""
    result = step.record.get("result")
    if auth is None or not isinstance(result, dict):
        return step
    return step._replace(record={**step.record, "result": _with_auth(result, auth)})


def _with_auth(result: Mapping[str, object], auth: Mapping[str, object]) -> dict[str, object]:
    """Put the block where the format has it: behind the person's outcome."""
    changed: dict[str, object] = {}
    for key, value in result.items():
        if key != "message_auth":
            changed[key] = value
        if key == "human_outcome":
            changed["message_auth"] = dict(auth)
    changed.setdefault("message_auth", dict(auth))
    return changed


def _is_waiting(record: Mapping[str, object]) -> bool:
    result = part(record, "result")
    is_decided = part(result, "human_outcome").get("recorded") is True
    checkpoint = part(result, "threshold_checkpoint")
    is_stopped = checkpoint.get("breached") is True and checkpoint.get("action") == WAITING
    return is_stopped or (record.get("decision") == PAUSED and not is_decided)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
